/** A catalogue for tests, and what lies in its slide folder. */
import { type Image, listImages } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { slideServer } from '../../testing/slide-server.ts';

/** A whole slide, 200 × 150 pixels. */
export const svs = await buildSvs({ width: 200, height: 150, downsamples: [1] });
/** Of no entry. */
export const missingId = '00000000-0000-4000-8000-000000000000';

/** A catalogue, and the two kinds of people who see it. */
export async function catalogueOf(
  database: NonNullable<Parameters<typeof slideServer>[0]>['database'] = 'SQLite',
) {
  const server = await slideServer({ database });
  const administrator = await server.given.admin();
  const viewer = await server.given.user({ role: 'viewer' });
  const admin = server.as(administrator);
  const reader = server.as(viewer);
  const list = async (
    client: typeof admin,
    query: Readonly<Record<string, string>> = {},
  ): Promise<readonly Image[]> => {
    const { status, body } = await client.call(listImages, { query });
    if (status !== 200) throw new Error(`the list was answered with ${status}`);
    return body.images;
  };
  return {
    server,
    administrator,
    viewer,
    admin,
    reader,
    /** File names, in the order of the answer. */
    names: async (client = reader, query: Readonly<Record<string, string>> = {}) =>
      (await list(client, query)).map(({ file_name }) => file_name),
    list,
  };
}
