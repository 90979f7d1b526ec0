import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** Tests that replace modules (`vi.mock`): each file needs a process of its own. */
const replacingModules = [
  'packages/server/src/sign-in/fair-hashing.test.ts',
  'packages/server/src/sign-in/password.test.ts',
  'packages/server/src/tiles/fair-rendering.test.ts',
];

const node: TestProjectInlineConfiguration['test'] = {
  environment: 'node',
  globalSetup: ['packages/server/src/store/testing/database-template.ts'],
  // Node runs the sources as the product does: Vite would transform each module for each process.
  experimental: { viteModuleRunner: false },
  // A test server leaves so much garbage that V8's default young generation of 16 MB is collected again and again.
  execArgv: ['--max-semi-space-size=64'],
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
          // The modules of the server are loaded once for each worker, not once for each file: 1.3 s of a processor.
          isolate: false,
          include: [
            'packages/{annotations,contract,slide,demo-slides,server}/src/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          exclude: replacingModules,
        },
      },
      { test: { ...node, name: 'node, with replaced modules', include: replacingModules } },
      'packages/web/vite.config.ts',
    ],
  },
});
