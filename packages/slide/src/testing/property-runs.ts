/**
 * Returns the number of generated cases of a property test. `npm test` runs a quarter of the cases of `npm run test:all`, which CI runs;
 * `npm run fuzz` sets FUZZ_RUNS to run many more.
 *
 * @param inAllTests number of cases in `npm run test:all`
 * @param fuzzShare share of FUZZ_RUNS that a property gets whose cases take long
 */
export function propertyRuns(inAllTests: number, fuzzShare = 1): number {
  const { FUZZ_RUNS, TEST_SCOPE } = process.env;
  if (FUZZ_RUNS !== undefined) return Math.max(inAllTests, Math.ceil(Number(FUZZ_RUNS) * fuzzShare));
  return TEST_SCOPE === 'short' ? Math.ceil(inAllTests / 4) : inAllTests;
}
