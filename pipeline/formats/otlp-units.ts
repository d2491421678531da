/** Units as UCUM writes them, which is what OpenTelemetry wants, from the words of Prometheus and the spellings of catalogs. */

const UNITS: ReadonlyMap<string, string> = new Map([
  ['ratio', '1'],
  ['percent', '%'],
  ['bits', 'bit'],
  ['bytes', 'By'],
  ['kilobytes', 'kBy'],
  ['megabytes', 'MBy'],
  ['gigabytes', 'GBy'],
  ['kibibytes', 'KiBy'],
  ['mebibytes', 'MiBy'],
  ['gibibytes', 'GiBy'],
  ['tebibytes', 'TiBy'],
  ['kB', 'kBy'],
  ['MB', 'MBy'],
  ['GB', 'GBy'],
  ['KiB', 'KiBy'],
  ['MiB', 'MiBy'],
  ['GiB', 'GiBy'],
  ['TiB', 'TiBy'],
  ['nanoseconds', 'ns'],
  ['microseconds', 'us'],
  ['milliseconds', 'ms'],
  ['seconds', 's'],
  ['second', 's'],
  ['minutes', 'min'],
  ['minute', 'min'],
  ['hours', 'h'],
  ['hour', 'h'],
  ['days', 'd'],
  ['day', 'd'],
  ['meters', 'm'],
  ['grams', 'g'],
  ['joules', 'J'],
  ['millijoules', 'mJ'],
  ['kilojoules', 'kJ'],
  ['microjoules', 'uJ'],
  ['watthours', 'W.h'],
  ['Wh', 'W.h'],
  ['watts', 'W'],
  ['milliwatts', 'mW'],
  ['kilowatts', 'kW'],
  ['volts', 'V'],
  ['millivolts', 'mV'],
  ['amperes', 'A'],
  ['celsius', 'Cel'],
  ['hertz', 'Hz'],
  ['kilohertz', 'kHz'],
  ['megahertz', 'MHz'],
  ['gigahertz', 'GHz'],
  ['cores', '{core}'],
  ['millicores', '{millicore}'],
  ['nanocores', '{nanocore}'],
])

const PER = '_per_'

/** What is not known stays as it is. */
export function ucumUnit(unit: string): string {
  const separator = unit.includes(PER) ? PER : '/'
  return unit
    .split(separator)
    .map(part => UNITS.get(part) ?? part)
    .join('/')
}
