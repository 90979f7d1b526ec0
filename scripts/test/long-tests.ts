/**
 * Divides the tests into those of `npm test`, which takes at most ten minutes on two cores, and the long tests, which only
 * `npm run test:all` runs. CI runs `npm run test:all` for every commit.
 *
 * A long test takes seconds, because it starts, kills or starves processes and services, reads large real slides, compares with other
 * programs, or repeats in a browser what faster tests of the same screen state.
 */

/** Test files with long tests, as glob patterns relative to the root of the project. */
export const longTests: readonly string[] = [
  // Server processes and services that are started, stopped, killed, starved or slowed down.
  'packages/server/src/catalogue/watch.test.ts',
  'packages/server/src/collections/presentations.test.ts',
  'packages/server/src/commands/backup-commands.test.ts',
  'packages/server/src/jobs/jobs.test.ts',
  'packages/server/src/processes/**/*.test.ts',
  'packages/server/src/results/find-results.test.ts',
  'packages/server/src/store/durability.test.ts',
  'packages/server/src/store/migrating.test.ts',
  'packages/server/src/system-tests/faults/**/*.test.ts',
  'packages/server/src/system-tests/races.test.ts',
  'packages/server/src/system-tests/revocation-across-processes.test.ts',
  'packages/server/src/tiles/fair-rendering.test.ts',
  'packages/server/src/tiles/tile-prerenderer.test.ts',
  'packages/server/src/uploads/interrupted.test.ts',
  'packages/slide/src/workers/**/*.test.ts',
  // Backups and their restoration, with every pair of databases.
  'packages/server/src/backup/move-database.test.ts',
  'packages/server/src/backup/restore-backup.test.ts',
  'packages/server/src/backup/write-backup.test.ts',
  // Large real slides, object storage and comparisons with other programs.
  'packages/server/src/catalogue/bad-slides.test.ts',
  'packages/server/src/catalogue/bucket.test.ts',
  'packages/server/src/tiles/bucket-slides.test.ts',
  'packages/slide/src/corpus/**/*.test.ts',
  'packages/slide/src/formats/openslide.test.ts',
  // Whole generated slides.
  'packages/demo-slides/src/make-demo-slides.test.ts',
  // Programs that check the code, run on examples.
  'scripts/check/**/*.test.ts',
];

/** Browser tests that `npm test` runs: the stories of people from their registration, approval and sign-in to the first slide. */
export const shortBrowserTests: readonly string[] = [
  'e2e/approval.spec.ts',
  'e2e/datasets.spec.ts',
  'e2e/external-sign-in.spec.ts',
  'e2e/first-use.spec.ts',
  'e2e/password-reset.spec.ts',
  'e2e/registration.spec.ts',
  'e2e/second-factor.spec.ts',
];
