/**
 * The DCGM fields that the exporters' default files name: what each is called in which generation, and what it reads.
 *
 * Values are in the units of generations 2.x to 4.8; `base` leads to those of 4.9.
 */
import {
  boardActivity,
  claimActivity,
  claimMemoryMiB,
  deviceActivity,
  deviceMemoryUsedMiB,
  energyJoulesAt,
  type Claim,
  type Device,
} from '../gpu.ts'
import { fractionOf } from '../random.ts'

/** What one device reads at one moment. */
export type Reading = {
  readonly device: Device
  /** When DCGM took the sample. */
  readonly timeMs: number
  /** Counters are read when they are asked for: one that stood between two samples could only go back when a pod comes or goes. */
  readonly nowMs: number
  readonly sampleNumber: number
  /** Of the device, and of the board that it is a part of. */
  readonly activity: number
  readonly boardActivity: number
  readonly usedMiB: number
}

export type Field = {
  readonly id: number
  /** Without the prefix `DCGM_FI_`. */
  readonly name: string
  /** In 1.x. */
  readonly oldName?: string
  /** In 4.9, where it was renamed; and the factor from the old unit to the new one. */
  readonly base?: {
    readonly name: string
    readonly multiply?: number
    readonly divide?: number
    readonly help?: string
  }
  readonly type: 'gauge' | 'counter'
  readonly help: string
  /** Printed as `%d` or as `%f`. */
  readonly number: 'integer' | 'float'
  /** Whether MIG instances have it at all. */
  readonly onMig: boolean
  /** Undefined is a blank value: the exporter has no such series just now. */
  value(reading: Reading): number | undefined
  /** What one pod reads, for the fields that are known by process. */
  ofPod?(claim: Claim, reading: Reading): number
}

export function readDevice(device: Device, nowMs: number, sampleNumber: number, timeMs: number): Reading {
  return {
    device,
    timeMs,
    nowMs,
    sampleNumber,
    activity: deviceActivity(device, timeMs, sampleNumber),
    boardActivity: boardActivity(device.gpu, timeMs, sampleNumber),
    usedMiB: deviceMemoryUsedMiB(device, timeMs),
  }
}

function noise(reading: Reading, salt: number): number {
  return fractionOf(reading.device.gpu.seed ^ salt, reading.sampleNumber)
}

function clock(range: readonly [number, number], reading: Reading): number {
  return reading.boardActivity === 0 ? range[0] : range[1] - 15 * Math.floor(noise(reading, 100) * 3)
}

function celsius(reading: Reading): number {
  return Math.round(26 + (reading.device.gpu.seed % 7) + 38 * reading.boardActivity + 2 * noise(reading, 150))
}

function watts(reading: Reading): number {
  const { idleWatts, fullWatts } = reading.device.gpu.model
  const mean = idleWatts + (fullWatts - idleWatts) * reading.boardActivity
  return Math.round(mean * (0.99 + 0.02 * noise(reading, 155)) * 1000) / 1000
}

function pcieBytes(reading: Reading, salt: number): number {
  return Math.round(
    120_000 + 900_000_000 * reading.activity * (0.5 + noise(reading, salt)) + 80_000 * noise(reading, salt),
  )
}

function percent(ratio: number): number {
  return Math.round(100 * ratio)
}

function freeMiB(reading: Reading): number {
  const { device } = reading
  const reserved = device.mig === undefined ? device.gpu.model.reservedMiB : 0
  return device.memoryMiB - reserved - reading.usedMiB
}

const PERCENT_TO_RATIO = { divide: 100 }
const MHZ_TO_HZ = { multiply: 1_000_000 }
const MIB_TO_BYTES = { multiply: 1_048_576 }

export const FIELDS: readonly Field[] = [
  {
    id: 100,
    name: 'DEV_SM_CLOCK',
    oldName: 'dcgm_sm_clock',
    base: { name: 'DEV_SM_CLOCK_HERTZ', ...MHZ_TO_HZ, help: 'SM clock frequency (in Hz).' },
    type: 'gauge',
    help: 'SM clock frequency (in MHz).',
    number: 'integer',
    onMig: true,
    value: reading => clock(reading.device.gpu.model.smClockMhz, reading),
  },
  {
    id: 101,
    name: 'DEV_MEM_CLOCK',
    oldName: 'dcgm_memory_clock',
    base: { name: 'DEV_MEMORY_CLOCK_HERTZ', ...MHZ_TO_HZ, help: 'Memory clock frequency (in Hz).' },
    type: 'gauge',
    help: 'Memory clock frequency (in MHz).',
    number: 'integer',
    onMig: true,
    value: ({ device, boardActivity }) => device.gpu.model.memoryClockMhz[boardActivity === 0 ? 0 : 1],
  },
  {
    id: 140,
    name: 'DEV_MEMORY_TEMP',
    oldName: 'dcgm_memory_temp',
    base: { name: 'DEV_MEMORY_TEMP_CELSIUS' },
    type: 'gauge',
    help: 'Memory temperature (in C).',
    number: 'integer',
    onMig: true,
    value: reading => (reading.device.gpu.model.memorySensor ? celsius(reading) + 6 : 0),
  },
  {
    id: 150,
    name: 'DEV_GPU_TEMP',
    oldName: 'dcgm_gpu_temp',
    base: { name: 'DEV_GPU_TEMP_CELSIUS' },
    type: 'gauge',
    help: 'GPU temperature (in C).',
    number: 'integer',
    onMig: true,
    value: celsius,
  },
  {
    id: 155,
    name: 'DEV_POWER_USAGE',
    oldName: 'dcgm_power_usage',
    base: { name: 'DEV_BOARD_POWER_WATTS' },
    type: 'gauge',
    help: 'Power draw (in W).',
    number: 'float',
    onMig: true,
    value: watts,
  },
  {
    id: 156,
    name: 'DEV_TOTAL_ENERGY_CONSUMPTION',
    oldName: 'dcgm_total_energy_consumption',
    base: {
      name: 'DEV_GPU_ENERGY_JOULES_TOTAL',
      divide: 1000,
      help: 'Total energy consumption since the driver was last reloaded (in J).',
    },
    type: 'counter',
    help: 'Total energy consumption since boot (in mJ).',
    number: 'integer',
    onMig: true,
    value: ({ device, nowMs }) => Math.floor(energyJoulesAt(device.gpu, nowMs) * 1000),
  },
  {
    id: 200,
    name: 'DEV_PCIE_TX_THROUGHPUT',
    oldName: 'dcgm_pcie_tx_throughput',
    type: 'counter',
    help: 'Total number of bytes transmitted through PCIe TX (in KB) via NVML.',
    number: 'integer',
    onMig: false,
    value: reading => Math.round(pcieBytes(reading, 200) / 1000),
  },
  {
    id: 201,
    name: 'DEV_PCIE_RX_THROUGHPUT',
    oldName: 'dcgm_pcie_rx_throughput',
    type: 'counter',
    help: 'Total number of bytes received through PCIe RX (in KB) via NVML.',
    number: 'integer',
    onMig: false,
    value: reading => Math.round(pcieBytes(reading, 201) / 1000),
  },
  {
    id: 202,
    name: 'DEV_PCIE_REPLAY_COUNTER',
    oldName: 'dcgm_pcie_replay_counter',
    base: { name: 'DEV_PCIE_REPLAY_TOTAL' },
    type: 'counter',
    help: 'Total number of PCIe retries.',
    number: 'integer',
    onMig: true,
    value: ({ device }) => device.gpu.pcieReplays,
  },
  {
    id: 203,
    name: 'DEV_GPU_UTIL',
    oldName: 'dcgm_gpu_utilization',
    base: { name: 'DEV_GPU_UTIL_RATIO', ...PERCENT_TO_RATIO, help: 'GPU utilization (ratio).' },
    type: 'gauge',
    help: 'GPU utilization (in %).',
    number: 'integer',
    onMig: false,
    value: ({ activity }) => percent(activity),
    ofPod: (claim, { timeMs, sampleNumber }) => percent(claim.share * claimActivity(claim, timeMs, sampleNumber)),
  },
  {
    id: 204,
    name: 'DEV_MEM_COPY_UTIL',
    oldName: 'dcgm_mem_copy_utilization',
    base: { name: 'DEV_MEM_COPY_UTIL_RATIO', ...PERCENT_TO_RATIO, help: 'Memory utilization (ratio).' },
    type: 'gauge',
    help: 'Memory utilization (in %).',
    number: 'integer',
    onMig: false,
    value: ({ activity }) => percent(0.52 * activity),
  },
  {
    id: 206,
    name: 'DEV_ENC_UTIL',
    oldName: 'dcgm_enc_utilization',
    base: { name: 'DEV_ENC_UTIL_RATIO', ...PERCENT_TO_RATIO, help: 'Encoder utilization (ratio).' },
    type: 'gauge',
    help: 'Encoder utilization (in %).',
    number: 'integer',
    onMig: false,
    value: () => 0,
  },
  {
    id: 207,
    name: 'DEV_DEC_UTIL',
    oldName: 'dcgm_dec_utilization',
    base: { name: 'DEV_DEC_UTIL_RATIO', ...PERCENT_TO_RATIO, help: 'Decoder utilization (ratio).' },
    type: 'gauge',
    help: 'Decoder utilization (in %).',
    number: 'integer',
    onMig: false,
    value: () => 0,
  },
  {
    id: 230,
    name: 'DEV_XID_ERRORS',
    oldName: 'dcgm_xid_errors',
    base: { name: 'DEV_XID_ERROR' },
    type: 'gauge',
    help: 'Value of the last XID error encountered.',
    number: 'integer',
    onMig: true,
    value: ({ device }) => device.gpu.xid,
  },
  {
    id: 250,
    name: 'DEV_FB_TOTAL',
    base: { name: 'DEV_FB_CAPACITY_BYTES', ...MIB_TO_BYTES, help: 'Framebuffer memory capacity (in bytes).' },
    type: 'gauge',
    help: 'Framebuffer memory total (in MiB).',
    number: 'integer',
    onMig: true,
    value: ({ device }) => device.memoryMiB,
  },
  {
    id: 251,
    name: 'DEV_FB_FREE',
    oldName: 'dcgm_fb_free',
    base: { name: 'DEV_FB_FREE_BYTES', ...MIB_TO_BYTES, help: 'Framebuffer memory free (in bytes).' },
    type: 'gauge',
    help: 'Framebuffer memory free (in MiB).',
    number: 'integer',
    onMig: true,
    value: freeMiB,
  },
  {
    id: 252,
    name: 'DEV_FB_USED',
    oldName: 'dcgm_fb_used',
    base: { name: 'DEV_FB_USED_BYTES', ...MIB_TO_BYTES, help: 'Framebuffer memory used (in bytes).' },
    type: 'gauge',
    help: 'Framebuffer memory used (in MiB).',
    number: 'integer',
    onMig: true,
    value: ({ usedMiB }) => usedMiB,
    ofPod: (claim, { timeMs }) => claimMemoryMiB(claim, timeMs),
  },
  {
    id: 253,
    name: 'DEV_FB_RESERVED',
    base: { name: 'DEV_FB_RESERVED_BYTES', ...MIB_TO_BYTES, help: 'Framebuffer memory reserved (in bytes).' },
    type: 'gauge',
    help: 'Framebuffer memory reserved (in MiB).',
    number: 'integer',
    onMig: true,
    value: ({ device }) => (device.mig === undefined ? device.gpu.model.reservedMiB : 0),
  },
  {
    id: 393,
    name: 'DEV_UNCORRECTABLE_REMAPPED_ROWS',
    base: { name: 'DEV_ROW_REMAP_UNCORRECTABLE_TOTAL' },
    type: 'counter',
    help: 'Number of remapped rows for uncorrectable errors',
    number: 'integer',
    onMig: false,
    value: () => 0,
  },
  {
    id: 394,
    name: 'DEV_CORRECTABLE_REMAPPED_ROWS',
    base: { name: 'DEV_ROW_REMAP_CORRECTABLE_TOTAL' },
    type: 'counter',
    help: 'Number of remapped rows for correctable errors',
    number: 'integer',
    onMig: false,
    value: ({ device }) => (device.gpu.seed % 97 === 0 ? 1 : 0),
  },
  {
    id: 395,
    name: 'DEV_ROW_REMAP_FAILURE',
    base: { name: 'DEV_ROW_REMAP_FAILED' },
    type: 'gauge',
    help: 'Whether remapping of rows has failed',
    number: 'integer',
    onMig: false,
    value: () => 0,
  },
  {
    id: 449,
    name: 'DEV_NVLINK_BANDWIDTH_TOTAL',
    oldName: 'dcgm_nvlink_bandwidth_total',
    base: {
      name: 'DEV_NVLINK_THROUGHPUT_TOTAL',
      ...MHZ_TO_HZ,
      help: 'Total NVLink throughput over all lanes (in B/s).',
    },
    type: 'counter',
    help: 'Total number of NVLink bandwidth counters for all lanes.',
    number: 'integer',
    onMig: true,
    value: reading =>
      reading.device.gpu.model.nvlink ? Math.round(110_000 * reading.boardActivity * noise(reading, 449)) : undefined,
  },
  {
    id: 526,
    name: 'DEV_VGPU_LICENSE_STATUS',
    type: 'gauge',
    help: 'vGPU License status',
    number: 'integer',
    onMig: true,
    value: () => 0,
  },
  {
    id: 1001,
    name: 'PROF_GR_ENGINE_ACTIVE',
    oldName: 'dcgm_fi_prof_gr_engine_active',
    base: { name: 'PROF_GR_ENGINE_UTIL_RATIO' },
    type: 'gauge',
    help: 'Ratio of time the graphics engine is active.',
    number: 'float',
    onMig: true,
    value: ({ activity }) => micro(activity),
  },
  {
    id: 1004,
    name: 'PROF_PIPE_TENSOR_ACTIVE',
    oldName: 'dcgm_fi_prof_pipe_tensor_active',
    base: { name: 'PROF_TENSOR_UTIL_RATIO' },
    type: 'gauge',
    help: 'Ratio of cycles the tensor (HMMA) pipe is active.',
    number: 'float',
    onMig: true,
    value: reading => micro(reading.activity * (0.35 + 0.1 * noise(reading, 1004))),
  },
  {
    id: 1005,
    name: 'PROF_DRAM_ACTIVE',
    oldName: 'dcgm_fi_prof_dram_active',
    base: { name: 'PROF_DRAM_UTIL_RATIO' },
    type: 'gauge',
    help: 'Ratio of cycles the device memory interface is active sending or receiving data.',
    number: 'float',
    onMig: true,
    value: reading => micro(reading.activity * (0.4 + 0.1 * noise(reading, 1005))),
  },
  {
    id: 1009,
    name: 'PROF_PCIE_TX_BYTES',
    oldName: 'dcgm_fi_prof_pcie_tx_bytes',
    type: 'gauge',
    help: 'The rate of data transmitted over the PCIe bus, headers and payloads, in bytes per second.',
    number: 'integer',
    onMig: false,
    value: reading => pcieBytes(reading, 1009),
  },
  {
    id: 1010,
    name: 'PROF_PCIE_RX_BYTES',
    oldName: 'dcgm_fi_prof_pcie_rx_bytes',
    type: 'gauge',
    help: 'The rate of data received over the PCIe bus, headers and payloads, in bytes per second.',
    number: 'integer',
    onMig: false,
    value: reading => pcieBytes(reading, 1010),
  },
]

function micro(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
