/**
 * How the result of a function over a range follows the unit of its samples: 1 where it is in the same unit, 0 where the unit does not
 * matter. Functions that are not here are not linear, or not known.
 */
export const DEGREE_OF_RANGE_FUNCTION: Readonly<Record<string, 0 | 1>> = {
  avg_over_time: 1,
  delta: 1,
  deriv: 1,
  double_exponential_smoothing: 1,
  first_over_time: 1,
  holt_winters: 1,
  idelta: 1,
  increase: 1,
  irate: 1,
  last_over_time: 1,
  mad_over_time: 1,
  max_over_time: 1,
  min_over_time: 1,
  predict_linear: 1,
  quantile_over_time: 1,
  rate: 1,
  stddev_over_time: 1,
  sum_over_time: 1,
  absent_over_time: 0,
  changes: 0,
  count_over_time: 0,
  present_over_time: 0,
  resets: 0,
  ts_of_first_over_time: 0,
  ts_of_last_over_time: 0,
  ts_of_max_over_time: 0,
  ts_of_min_over_time: 0,
}

/** What takes a vector, does not look at its numbers, and would give something else of a product. */
export const BLIND_TO_PRODUCTS: ReadonlySet<string> = new Set(['absent', 'timestamp'])

/** What takes a vector and does not look at its numbers. */
export const BLIND_TO_VALUES: ReadonlySet<string> = new Set([...BLIND_TO_PRODUCTS, 'count', 'group'])

/** What makes a jump of a rounding error. */
export const JUMPS: ReadonlySet<string> = new Set(['floor', 'ceil', 'round', 'count_values', 'sgn'])

/**
 * What gives back numbers in the unit of its one vector: some of its numbers as they are, or what is added up of them, where rounding may
 * be another in another unit.
 */
export const TRANSPARENT: Readonly<Record<string, 'selects' | 'rounds'>> = {
  bottomk: 'selects',
  label_join: 'selects',
  label_replace: 'selects',
  last_over_time: 'selects',
  first_over_time: 'selects',
  limitk: 'selects',
  max: 'selects',
  max_over_time: 'selects',
  min: 'selects',
  min_over_time: 'selects',
  sort: 'selects',
  sort_desc: 'selects',
  topk: 'selects',
  avg: 'rounds',
  avg_over_time: 'rounds',
  sum: 'rounds',
  sum_over_time: 'rounds',
}

/** Functions over a range that add up, of those that a unit can be corrected beside. */
export const ROUNDING: ReadonlySet<string> = new Set(
  Object.keys(DEGREE_OF_RANGE_FUNCTION).filter(name => TRANSPARENT[name] !== 'selects'),
)
