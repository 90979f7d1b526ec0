import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** Fills in, while developing, what the server writes into the page for each deployment. */
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
 * Moves the style sheet behind the first content of the page, which then does not wait for it. Before the app, because the
 * theme that the app writes there must come later than the defaults of the component library.
 */
function styleSheetLast(): Plugin {
  return {
    name: 'style-sheet-last',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(page) {
        const links = page.match(/<link rel="stylesheet"[^>]*>/g) ?? [];
        const without = links.reduce((rest, link) => rest.replace(link, ''), page);
        return without.replace('<div id="root">', `${links.join('')}<div id="root">`);
      },
    },
  };
}

/** Lets the page load start.tsx beside main.ts, which imports it dynamically. */
function preloadStart(): Plugin {
  return {
    name: 'preload-start',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const start = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith('/src/start.tsx')));
        if (start === undefined) throw new Error('The build has no chunk with src/start.tsx.');
        const attrs = { rel: 'modulepreload', crossorigin: true, href: `/${start.fileName}` };
        return [{ tag: 'link', attrs, injectTo: 'head' }];
      },
    },
  };
}

/** Stops a build that contains a Mantine component without its style sheet: src/mantine.css lists them. */
function mantineStyles(): Plugin {
  return {
    name: 'mantine-styles',
    apply: 'build',
    generateBundle(_, bundle) {
      const listed = readFileSync(new URL('src/mantine.css', import.meta.url), 'utf8');
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      for (const module of chunks.flatMap(({ moduleIds }) => moduleIds)) {
        const [, name] = /@mantine[\\/]core[\\/].*?(\w+)\.module\.mjs$/.exec(module) ?? [];
        if (name !== undefined && !listed.includes(`/styles/${name}.css"`)) {
          this.error(`src/mantine.css lacks @mantine/core/styles/${name}.css`);
        }
      }
    },
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The first file, and what both the login page and other screens have: these would else load the forms of the login page. */
const startImports = new RegExp(
  [
    String.raw`src[\\/]start\.tsx$`,
    String.raw`components[\\/](TextInput|ActionIcon|Anchor)[\\/]`,
    String.raw`hooks[\\/].*use-uncontrolled`,
    String.raw`notifications[\\/]notify\.ts$`,
  ].join('|'),
);

/** What the screen of the viewer imports for its first rows; a group contains the imports of its modules, too. */
const catalogueImports = new RegExp(
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
    // The content security policy allows fonts and pictures from the server alone, not as data addresses.
    assetsInlineLimit: 0,
    // The app is one file and the viewer another: both above the size that Vite advises by default.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // Two files for all that the first screen needs: a round trip of a slow network costs more than its bytes. The
            // first one verifies the sign-in and requests data while the others are loading.
            { name: 'app', tags: ['$initial'], priority: 6 },
            { name: 'start', test: startImports, priority: 5 },
            { name: 'login', test: /screens[\\/]login[\\/]Login\.tsx$/, priority: 4 },
            // What the viewer's catalogue imports, and its layout. Most of it serves other screens too.
            { name: 'common', test: catalogueImports, priority: 3 },
            // Of the parts that screens share, those that need much of a library: a screen without them does not load it.
            {
              name: 'menus',
              test: /@mantine[\\/]core[\\/].*components[\\/](Menu|Tooltip)[\\/]/,
              priority: 2,
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
            // Parts of libraries that several screens use, else dozens of files of some hundred bytes.
            { name: 'parts', test: /node_modules/, minShareCount: 4, maxModuleSize: 60_000, priority: 1 },
          ],
        },
      },
    },
  },
  test: {
    name: 'web',
    environment: 'jsdom',
    // One browser-like world per worker, not one per file.
    pool: 'vmThreads',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    testTimeout: 20_000,
  },
});
