/** Where targets are: one address of loopback for each. */
export function targetAddress(target: number): string {
  return `127.0.${Math.floor(target / 250)}.${(target % 250) + 1}`
}
