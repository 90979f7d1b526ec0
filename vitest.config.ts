import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { longTests } from './scripts/test/long-tests.ts';

/**
 * Tests that run in a process of their own for each file: those that replace modules, the clock or the environment of the
 * process, and those that start processes or leave much memory behind, which would slow down the files after them.
 */
const isolatedTests = [
  'packages/demo-slides/src/**/*.test.ts',
  'packages/slide/src/corpus/**/*.test.ts',
  'packages/slide/src/formats/plain-image.test.ts',
  'packages/slide/src/object-storage/object-files.test.ts',
  'packages/slide/src/render/render-tile.test.ts',
  'packages/slide/src/workers/**/*.test.ts',
  'packages/server/src/api-tokens/recent-tokens.test.ts',
  'packages/server/src/http/hostile-texts.test.ts',
  'packages/server/src/jobs/**/*.test.ts',
  'packages/server/src/mail/mail.test.ts',
  'packages/server/src/platform/log.test.ts',
  'packages/server/src/processes/**/*.test.ts',
  'packages/server/src/sign-in/fair-hashing.test.ts',
  'packages/server/src/sign-in/password.test.ts',
  'packages/server/src/store/durability.test.ts',
  'packages/server/src/store/safety-copies.test.ts',
  'packages/server/src/system-tests/**/*.test.ts',
  'packages/server/src/tiles/fair-rendering.test.ts',
  'packages/server/src/tiles/open-slides-of-a-store.test.ts',
  'packages/server/src/tiles/open-slides.test.ts',
  'packages/server/src/tiles/rejection-delay.test.ts',
  'packages/server/src/tiles/tile-cache.test.ts',
];

/** The files that `npm test` leaves out; none without TEST_SCOPE, when vitest runs everything or the files that it is given. */
const excludedTests = process.env.TEST_SCOPE === 'short' ? longTests : [];

const node: TestProjectInlineConfiguration['test'] = {
  environment: 'node',
  taskTitleValueFormatTruncate: 0, // test names contain the values of their rows uncut
  globalSetup: ['packages/server/src/store/testing/database-template.ts'],
  // Node loads the sources as it does in the product, from its cache of compiled code. Vite would transform each module
  // again in each process.
  experimental: { viteModuleRunner: false },
  // A test server leaves so much garbage that V8's default young generation of 16 MB is collected again and again. The processors
  // are busy with tests, so garbage collection in several threads only costs time: 85 to 91 s for 36 files, 81 to 83 s without it.
  execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'],
  // A test that hangs ends; one on a busy machine is waited for.
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    slowTestThreshold: 10_000,
    projects: [
      {
        test: {
          ...node,
          name: 'node',
          // A worker process runs many test files and loads the modules of the product once. In a process for each file,
          // loading them took almost a third of the processor time: 280 s for 40 files of the server, 161 s without.
          isolate: false,
          include: [
            'packages/{annotations,contract,slide,demo-slides,server}/src/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          exclude: [...isolatedTests, ...excludedTests],
        },
      },
      { test: { ...node, name: 'node, isolated', include: isolatedTests, exclude: [...excludedTests] } },
      'packages/web/vite.config.ts',
    ],
  },
});
