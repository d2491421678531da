/**
 * How busy a pod keeps its GPU over time.
 *
 * A profile is a curve without noise, so that what it adds up to between two moments (energy is a counter) is known without
 * stepping through them. The noise on top has mean zero and depends on the moment alone.
 */
import { fractionOf } from './random.ts'
import type { Random } from './random.ts'

/** Up and down: training with dips for evaluation and checkpoints; a notebook in which somebody runs a cell now and then. */
type Steps = {
  readonly shape: 'steps'
  readonly high: number
  readonly low: number
  readonly periodMs: number
  /** How much of the period is high. */
  readonly highMs: number
  readonly offsetMs: number
  readonly noise: number
}
/** The day of the people who use a service. */
type Daily = {
  readonly shape: 'daily'
  readonly mean: number
  readonly amplitude: number
  readonly peakMs: number
  readonly noise: number
}

export type Profile = Steps | Daily
export type ProfileKind = 'training' | 'inference' | 'notebook' | 'batch'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * 60 * MINUTE_MS

const MAKERS: Readonly<Record<ProfileKind, (random: Random) => Profile>> = {
  training: random =>
    steps(random, random.between(0.82, 0.97), random.between(0.03, 0.3), random.between(6, 25), 0.93, 0.03),
  batch: random => steps(random, random.between(0.55, 0.9), random.between(0.1, 0.3), random.between(1, 4), 0.75, 0.05),
  notebook: random => steps(random, random.between(0.3, 0.7), 0, random.between(20, 90), random.between(0.01, 0.12), 0),
  inference: random => ({
    shape: 'daily',
    mean: random.between(0.25, 0.5),
    amplitude: random.between(0.1, 0.22),
    // The afternoon of one of three continents.
    peakMs: random.pick([5, 13, 20]) * 60 * MINUTE_MS,
    noise: 0.04,
  }),
}

/** Of a pod that holds a GPU for others. */
export const IDLE: Profile = { shape: 'steps', high: 0, low: 0, periodMs: 1000, highMs: 0, offsetMs: 0, noise: 0 }

export function makeProfile(kind: ProfileKind, random: Random): Profile {
  return MAKERS[kind](random)
}

function steps(
  random: Random,
  high: number,
  low: number,
  periodMinutes: number,
  highShare: number,
  noise: number,
): Steps {
  const periodMs = Math.round(periodMinutes * 60) * SECOND_MS
  const highMs = Math.round((periodMs * highShare) / SECOND_MS) * SECOND_MS
  return { shape: 'steps', high, low, periodMs, highMs, offsetMs: random.below(periodMs), noise }
}

/** From 0 to 1. The noise seed tells apart those who share a profile; readings of one sample number are equal. */
export function activityAt(profile: Profile, timeMs: number, noiseSeed: number, sampleNumber: number): number {
  const level = levelAt(profile, timeMs)
  if (level === 0 || profile.noise === 0) return level
  const noise = (fractionOf(noiseSeed, sampleNumber) - 0.5) * 2 * profile.noise
  return Math.min(1, Math.max(0, level + noise))
}

function levelAt(profile: Profile, timeMs: number): number {
  if (profile.shape === 'daily') {
    return profile.mean + profile.amplitude * Math.cos(((timeMs - profile.peakMs) / DAY_MS) * 2 * Math.PI)
  }
  return (timeMs + profile.offsetMs) % profile.periodMs < profile.highMs ? profile.high : profile.low
}

/** Milliseconds of full activity between two moments. */
export function activeMs(profile: Profile, fromMs: number, toMs: number): number {
  if (toMs <= fromMs) return 0
  return activeSinceZero(profile, toMs) - activeSinceZero(profile, fromMs)
}

function activeSinceZero(profile: Profile, timeMs: number): number {
  if (profile.shape === 'daily') {
    const angle = ((timeMs - profile.peakMs) / DAY_MS) * 2 * Math.PI
    return profile.mean * timeMs + (profile.amplitude * DAY_MS * Math.sin(angle)) / (2 * Math.PI)
  }
  const { high, low, periodMs, highMs } = profile
  const time = timeMs + profile.offsetMs
  const periods = Math.floor(time / periodMs)
  const rest = time - periods * periodMs
  const whole = periods * (high * highMs + low * (periodMs - highMs))
  return whole + (rest < highMs ? rest * high : highMs * high + (rest - highMs) * low)
}
