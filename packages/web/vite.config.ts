import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** Fills the placeholders of index.html in the development server; in production the API server fills them per deployment. */
function developmentSettings(): Plugin {
  const productName = process.env.PRODUCT_NAME ?? 'Lamina';
  const signIn = { embedded: true, external: null };
  const settings = JSON.stringify({ productName, tokenSyncUrl: null, signIn });
  return {
    name: 'development-settings',
    apply: 'serve',
    transformIndexHtml: (page) =>
      page
        .replace('__SETTINGS__', () => escapeHtml(settings))
        .replaceAll('__PRODUCT_NAME__', () => escapeHtml(productName)),
  };
}

/**
 * Moves the style sheet links from the head to just before `#root`, so that the content above them renders without waiting
 * for the style sheet. They stay before `#root` because the theme that the app writes into it must override the defaults
 * of the component library.
 */
function styleSheetLast(): Plugin {
  return {
    name: 'style-sheet-last',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(page) {
        const links = page.match(/<link rel="stylesheet"[^>]*>/g) ?? [];
        const pageWithoutLinks = links.reduce((remaining, link) => remaining.replace(link, ''), page);
        return pageWithoutLinks.replace('<div id="root">', `${links.join('')}<div id="root">`);
      },
    },
  };
}

/** Preloads the chunk of start.tsx in parallel with main.ts, which imports it dynamically. */
function preloadStart(): Plugin {
  return {
    name: 'preload-start',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const startChunk = chunks.find(({ moduleIds }) =>
          moduleIds.some((id) => id.endsWith('/src/start.tsx')),
        );
        if (startChunk === undefined) throw new Error('The build has no chunk with src/start.tsx.');
        const attrs = { rel: 'modulepreload', crossorigin: true, href: `/${startChunk.fileName}` };
        return [{ tag: 'link', attrs, injectTo: 'head' }];
      },
    },
  };
}

/** Fails the build when it contains a Mantine component whose style sheet src/mantine.css does not import. */
function mantineStyles(): Plugin {
  return {
    name: 'mantine-styles',
    apply: 'build',
    generateBundle(_, bundle) {
      const importedStyles = readFileSync(new URL('src/mantine.css', import.meta.url), 'utf8');
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      for (const module of chunks.flatMap(({ moduleIds }) => moduleIds)) {
        const [, componentName] = /@mantine[\\/]core[\\/].*?(\w+)\.module\.mjs$/.exec(module) ?? [];
        if (componentName !== undefined && !importedStyles.includes(`/styles/${componentName}.css"`)) {
          this.error(`src/mantine.css lacks @mantine/core/styles/${componentName}.css`);
        }
      }
    },
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Modules of the chunk `start`: start.tsx, and the modules that both the login page and other screens import. Without this
 * group, the bundler would put the latter into the chunk `login`, and every screen would load the forms of the login page.
 */
const startModules = new RegExp(
  [
    String.raw`src[\\/]start\.tsx$`,
    String.raw`components[\\/](TextInput|ActionIcon|Anchor)[\\/]`,
    String.raw`hooks[\\/].*use-uncontrolled`,
    String.raw`notifications[\\/]notify\.ts$`,
  ].join('|'),
);

/**
 * Modules that the viewer screen needs to show the first rows of the catalogue. The bundler adds the imports of these
 * modules to the chunk.
 */
const catalogueModules = new RegExp(
  [
    String.raw`layouts[\\/]DashboardLayout\.tsx$`,
    String.raw`screens[\\/]wsi-viewer[\\/](?!WsiViewer|ViewerBar|RequestDatasetDialog|CaseStrip|RegisterSlides|SelectedImage|SaveView|ShareSlide)`,
    String.raw`viewer[\\/](preload|results[\\/]arrangement-memory)\.ts$`,
    String.raw`browser[\\/]use-`,
  ].join('|'),
);

export default defineConfig({
  plugins: [react(), developmentSettings(), styleSheetLast(), preloadStart(), mantineStyles()],
  server: {
    proxy: { '/api': `http://127.0.0.1:${process.env.API_PORT ?? '3000'}` },
  },
  build: {
    // The content security policy allows fonts and pictures from the server only, not as `data:` URLs.
    assetsInlineLimit: 0,
    // In kB. The chunks of the app and of the viewer both exceed Vite's default of 500 kB.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // A module is put into the matching group with the highest `priority`. `$initial` are the modules that the entry
          // loads with static imports. `maxModuleSize` is in bytes.
          groups: [
            // The first screen needs only a few large chunks, because on a slow network a round trip costs more than the
            // bytes. The chunk `app` verifies the sign-in and requests data while the other chunks load.
            { name: 'app', tags: ['$initial'], priority: 6 },
            { name: 'start', test: startModules, priority: 5 },
            { name: 'login', test: /screens[\\/]login[\\/]Login\.tsx$/, priority: 4 },
            // The viewer's catalogue and its layout. Other screens use most of these modules, too.
            { name: 'common', test: catalogueModules, priority: 3 },
            // Shared components that need large parts of a library: a screen without these components does not load them.
            {
              name: 'menus',
              // texts.ts also has user menu texts; if it were in `dialogs`, all screens would load the chunk `dialogs`.
              test: /(@mantine[\\/]core[\\/].*components[\\/](Menu|Tooltip)[\\/]|src[\\/]components[\\/]texts\.ts$)/,
              priority: 3,
            },
            { name: 'dialogs', test: /src[\\/]components[\\/](ConfirmDialog|FormDialog)\.tsx$/, priority: 2 },
            { name: 'passwords', test: /src[\\/]components[\\/]NewPasswordFields\.tsx$/, priority: 2 },
            { name: 'icons', test: /@tabler[\\/]icons-react/, minShareCount: 2, priority: 1 },
            {
              name: 'shared',
              test: /packages[\\/](web|contract)[\\/]src/,
              minShareCount: 3,
              maxModuleSize: 12_000,
              priority: 1,
            },
            // Library modules that at least four chunks use. Without this group they would become dozens of tiny files.
            { name: 'parts', test: /node_modules/, minShareCount: 4, maxModuleSize: 60_000, priority: 1 },
          ],
        },
      },
    },
  },
  test: {
    name: 'web',
    environment: 'jsdom',
    // One jsdom environment per worker instead of one per test file.
    pool: 'vmThreads',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    testTimeout: 20_000,
    taskTitleValueFormatTruncate: 0, // test names contain the values of their rows uncut
  },
});
