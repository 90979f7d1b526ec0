/**
 * A page with the viewers of other projects (dicom-microscopy-viewer and OpenSeadragon), for the tests of interoperability. As in
 * practice, its origin differs from that of the product, so its requests need the CORS headers of the product.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';

export interface ViewerPage {
  readonly origin: string;
  stop(): Promise<void>;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** Served folders, by the first segment of the URL path. */
const folders: Readonly<Record<string, string>> = {
  'dicom-microscopy-viewer': 'node_modules/dicom-microscopy-viewer/dist',
  'dicomweb-client': 'node_modules/dicomweb-client/build',
  openseadragon: 'node_modules/openseadragon/build/openseadragon',
};

// dicom-microscopy-viewer loads its decoders from PUBLIC_LIB_URL.
const html = `<!doctype html><meta charset="utf-8"><title>Viewers</title>
<link rel="icon" href="data:,">
<style>body { margin: 0 } #viewport { width: 800px; height: 600px }</style>
<div id="viewport"></div>
<script>window.PUBLIC_LIB_URL = '/dicom-microscopy-viewer/dynamic-import/';</script>
<script src="/dicomweb-client/dicomweb-client.js"></script>
<script src="/dicom-microscopy-viewer/dicomMicroscopyViewer.bundle.min.js"></script>
<script src="/openseadragon/openseadragon.min.js"></script>`;

/** Starts a server that responds with files of `folders`, and with the page at every other path. */
export async function serveViewerPage(): Promise<ViewerPage> {
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The operating system assigned no port.');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Responds with a file of `folders`, or with the page. */
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const [, name = '', ...segments] = pathname.split('/');
  const folder = folders[name];
  if (folder === undefined) {
    response.setHeader('Content-Type', 'text/html').end(html);
    return;
  }
  try {
    // `normalize` removes `..`, so that only files of the folder are served.
    const bytes = await readFile(path.join(folder, path.normalize(`/${segments.join('/')}`)));
    response.setHeader('Content-Type', contentTypes[path.extname(pathname)] ?? 'application/octet-stream');
    response.end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}
