/** Starts a server with an empty catalogue for tests, and builds a slide that tests put into its slide folder. */
import { type Image, listImages } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { slideServer } from '../../testing/slide-server.ts';

/** Bytes of a complete slide in SVS format, 200 × 150 pixels. */
export const svs = await buildSvs({ width: 200, height: 150, downsamples: [1] });
/** A valid id that no entry has. */
export const missingId = '00000000-0000-4000-8000-000000000000';

/**
 * Starts a server and returns it with two accounts, `administrator` and `viewer`, and with the API clients that are signed in to
 * them: `admin` and `reader`.
 */
export async function startCatalogueServer(
  database: NonNullable<Parameters<typeof slideServer>[0]>['database'] = 'SQLite',
) {
  const server = await slideServer({ database });
  const administrator = await server.fixtures.admin();
  const viewer = await server.fixtures.user({ role: 'viewer' });
  const admin = server.as(administrator);
  const reader = server.as(viewer);
  /** Returns the images that an account sees. */
  const list = async (
    client: typeof admin,
    query: Readonly<Record<string, string>> = {},
  ): Promise<readonly Image[]> => {
    const { status, body } = await client.call(listImages, { query });
    if (status !== 200) throw new Error(`Listing the images failed with status ${status}.`);
    return body.images;
  };
  return {
    server,
    administrator,
    viewer,
    admin,
    reader,
    /** Returns the file names of the listed images in the order of the response; by default, as the viewer sees the list. */
    listedNames: async (client = reader, query: Readonly<Record<string, string>> = {}) =>
      (await list(client, query)).map(({ file_name }) => file_name),
    list,
  };
}
