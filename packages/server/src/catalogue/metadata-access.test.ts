/** Invalid, truncated and missing metadata files never show a slide to accounts that could not see it before. */
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  changeImages,
  countManagedImages,
  deleteImage,
  getImage,
  grantDataset,
  listAudit,
  listImages,
  listManagedImages,
  updateDataset,
  updateImage,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';

let svs: Uint8Array;
let otherSvs: Uint8Array;
beforeAll(async () => {
  svs = await buildSvs();
  otherSvs = await buildSvs({ width: 100, height: 80, downsamples: [1] });
}, 60_000);

const heading = 'file_name,dataset_name,organ_type\n';
/** Puts the slide a.svs into the dataset "Gizli çalışma", which the tests restrict. */
const csv = `${heading}a.svs,Gizli çalışma,Böbrek\n`;
/** A similar text in the encoding windows-1254: an unusable metadata file, because it is not UTF-8. */
const windows1254 = Buffer.concat([
  Buffer.from(`${heading}a.svs,Gizli `),
  Buffer.from([0xe7]), // ç
  Buffer.from('al'),
  Buffer.from([0xfd, 0xfe]), // ış
  Buffer.from('ma,B\n'),
]);

/**
 * Starts a server with a member without a grant, and with a slide in the open folder Set. The metadata file of this folder puts the
 * slide into a restricted dataset.
 */
async function startWithRestrictedSlide(
  database: (typeof databaseKinds)[number] = 'SQLite',
  file = 'catalogue.csv',
  text = csv,
) {
  const server = await slideServer({ database });
  const admin = server.as(await server.fixtures.admin());
  const viewer = await server.fixtures.user({ role: 'viewer' });
  const member = server.as(viewer);
  const session = await server.sessionOf(viewer);
  await server.put('Set/a.svs', svs);
  await server.put(`Set/${file}`, text);
  await server.rescan();
  await admin.call(updateDataset, { body: { dataset: 'Gizli çalışma', access: 'restricted' } });
  const imageId = await server.idOf('a.svs');
  return {
    server,
    admin,
    viewer,
    imageId,
    remove: (relativePath: string) => fs.rm(path.join(server.config.slidesDir, relativePath)),
    move: (from: string, to: string) =>
      fs.rename(path.join(server.config.slidesDir, from), path.join(server.config.slidesDir, to)),
    /** Requests a slide as the member: whether it is listed, and the status codes of its entry and of its pixels. */
    async accessOfMember(id = imageId) {
      const { images } = (await member.call(listImages)).body;
      return {
        listed: images.some((image) => image.id === id),
        entry: (await member.call(getImage, { params: { imageId: id } })).status,
        pixels: (await server.pixels(`${id}/image.dzi`, session)).statusCode,
      };
    },
    /** Returns the ids of the slides in a dataset. */
    async slidesOf(dataset: string) {
      const { images } = (await admin.call(listImages, { query: { dataset } })).body;
      return images.map(({ id }) => id);
    },
    /** Returns the entries of the administrator's list, with those of unusable metadata files. */
    async managedEntries(query: Readonly<Record<string, string>> = {}) {
      return (await admin.call(listManagedImages, { query })).body.images;
    },
    async auditEvents(action: string) {
      const { entries } = (await admin.call(listAudit, { query: { action } })).body;
      return entries.map(({ target, detail, actor }) => ({
        target: target?.kind === 'image' ? target.id : null,
        detail,
        actor: actor?.uid ?? null,
      }));
    },
  };
}

const noAccess = { listed: false, entry: 404, pixels: 404 };
const fullAccess = { listed: true, entry: 200, pixels: 200 };

describe.each(databaseKinds)(
  'slide that the metadata file catalogue.csv puts into a restricted dataset (database: %s)',
  (database) => {
    it('is not visible to members without a grant', async () => {
      const { accessOfMember } = await startWithRestrictedSlide(database);
      expect(await accessOfMember()).toEqual(noAccess);
    });

    it('stays invisible to members without a grant after catalogue.csv is damaged or no longer names this dataset, also after a restart', async () => {
      const changes: Readonly<Record<string, string | Buffer>> = {
        'saved as Windows-1254': windows1254,
        empty: '',
        'cut off in its heading': 'file_na',
        'cut off in the row of the slide': `${heading}a.sv`,
        'cut off in the name of the dataset': `${heading}a.svs,Gizli`,
        'cut off behind the heading': heading,
        'without the row of the slide': `${heading}b.svs,Gizli çalışma,\n`,
        'without the dataset of the slide': `${heading}a.svs,,Böbrek\n`,
        'without the column of datasets': 'file_name,organ_type\na.svs,Böbrek\n',
        'with another dataset, which is open': `${heading}a.svs,Gizli calısma,\n`,
        'with a dataset in the wrong encoding': `${heading}a.svs,Gizli Ã§alÄ±ÅŸma,\n`,
        'with a quotation mark out of place': `${heading}"a.svs,Gizli çalışma,\n`,
      };
      const { server, accessOfMember, slidesOf } = await startWithRestrictedSlide(database);
      for (const folder of Object.keys(changes)) {
        await server.put(`${folder}/a.svs`, svs);
        await server.put(`${folder}/catalogue.csv`, csv);
      }
      await server.rescan();
      const slides = await slidesOf('Gizli çalışma');
      expect(slides).toHaveLength(13); // one in each of the 12 folders, and Set/a.svs
      for (const [folder, content] of Object.entries(changes)) {
        await server.put(`${folder}/catalogue.csv`, content);
      }
      await server.rescan();
      for (const id of slides) expect(await accessOfMember(id)).toEqual(noAccess);
      await server.services.catalogue.start(); // scans like a restart
      await server.services.catalogue.settled();
      for (const id of slides) expect(await accessOfMember(id)).toEqual(noAccess);
      expect(await slidesOf('Gizli çalışma')).toHaveLength(13);
    });

    it('stays invisible to members without a grant after catalogue.csv is deleted, also after a second scan', async () => {
      const { server, accessOfMember, remove } = await startWithRestrictedSlide(database);
      await remove('Set/catalogue.csv');
      await server.rescan();
      expect(await accessOfMember()).toEqual(noAccess);
      await server.rescan();
      expect(await accessOfMember()).toEqual(noAccess);
    });

    it('stays invisible to members without a grant when its file is moved to the folder of an open dataset', async () => {
      const { server, accessOfMember, move } = await startWithRestrictedSlide(database);
      await server.put('Open/b.svs', otherSvs);
      await move('Set/a.svs', 'Open/a.svs');
      await server.rescan();
      expect(await accessOfMember()).toEqual(noAccess);
    });

    it('stays invisible to members without a grant when its missing file reappears after catalogue.csv was deleted', async () => {
      const { server, accessOfMember, move, remove } = await startWithRestrictedSlide(database);
      await move('Set/a.svs', '.a'); // a scan ignores hidden files
      await server.rescan();
      await remove('Set/catalogue.csv');
      await move('.a', 'Set/a.svs');
      await server.rescan();
      expect(await accessOfMember()).toEqual(noAccess);
    });

    it('stays invisible to members without a grant when its file is replaced after its row in catalogue.csv was deleted', async () => {
      const { server, accessOfMember } = await startWithRestrictedSlide(database);
      await server.put('Set/catalogue.csv', heading);
      await server.put('Set/a.svs', otherSvs);
      await server.rescan();
      expect(await accessOfMember()).toEqual(noAccess);
    });

    it('moves to the dataset of its folder when catalogue.csv no longer names the slide, if this gives no additional account access', async () => {
      const { server, admin, imageId, accessOfMember, managedEntries, auditEvents } =
        await startWithRestrictedSlide(database);
      await admin.call(updateDataset, { body: { dataset: 'Set', access: 'restricted' } });
      await server.put('Set/catalogue.csv', heading);
      await server.rescan();
      expect(await managedEntries()).toMatchObject([{ dataset_name: 'Set', metadata_hold: null }]);
      expect(await accessOfMember()).toEqual(noAccess);
      expect(await auditEvents('image-dataset-changed')).toEqual([
        {
          target: imageId,
          actor: null,
          detail: { dataset_before: 'Gizli çalışma', dataset_after: 'Set' },
        },
      ]);
    });

    it('stays in the restricted dataset when catalogue.csv no longer names the slide, if the dataset of its folder would give additional members access', async () => {
      const { server, admin, viewer, accessOfMember } = await startWithRestrictedSlide(database);
      await admin.call(updateDataset, { body: { dataset: 'Set', access: 'restricted' } });
      await admin.call(grantDataset, { body: { dataset: 'Set', uid: viewer.uid } });
      await server.put('Set/catalogue.csv', heading);
      await server.rescan();
      expect(await accessOfMember()).toEqual(noAccess);
    });
  },
);

describe('slide that the metadata file dataset.json puts into a restricted dataset', () => {
  const json = JSON.stringify({ dataset_name: 'Gizli çalışma' });

  it('stays invisible to members without a grant after dataset.json is damaged or no longer names this dataset', async () => {
    const changes: Readonly<Record<string, string>> = {
      'cut off': json.slice(0, 20),
      empty: '',
      'without a dataset': '{}',
      'about other slides': '{"slides": {"b.svs": {"dataset_name": "Gizli çalışma"}}}',
      'not an object': '[]',
    };
    const { server, accessOfMember, slidesOf } = await startWithRestrictedSlide(
      'SQLite',
      'dataset.json',
      json,
    );
    for (const folder of Object.keys(changes)) {
      await server.put(`${folder}/a.svs`, svs);
      await server.put(`${folder}/dataset.json`, json);
    }
    await server.rescan();
    const slides = await slidesOf('Gizli çalışma');
    expect(slides).toHaveLength(6); // one in each of the 5 folders, and Set/a.svs
    for (const [folder, content] of Object.entries(changes)) {
      await server.put(`${folder}/dataset.json`, content);
    }
    await server.rescan();
    for (const id of slides) expect(await accessOfMember(id)).toEqual(noAccess);
  });

  it('stays invisible to members without a grant when this file, in the parent of its folder, is deleted', async () => {
    const { server, accessOfMember, imageId, remove, move } = await startWithRestrictedSlide(
      'SQLite',
      'dataset.json',
      json,
    );
    await fs.mkdir(path.join(server.config.slidesDir, 'Set/2026/left'), { recursive: true });
    await move('Set/a.svs', 'Set/2026/left/a.svs');
    await server.rescan();
    expect(await server.idOf('a.svs')).toBe(imageId);
    await remove('Set/dataset.json');
    await server.rescan();
    expect(await accessOfMember()).toEqual(noAccess);
  });
});

describe('new slide in a folder whose metadata file (catalogue.csv) cannot be used', () => {
  it('is hidden from members until the invalid metadata file is corrected, and then gets the dataset that the file names', async () => {
    const contents: Readonly<Record<string, string | Buffer>> = {
      'saved as Windows-1254': windows1254,
      empty: '',
      'cut off in the row of the slide': `${heading}a.svs,Gizli`,
      'cut off before the row of the slide': `${heading}b.svs,Gizli çal`,
    };
    const server = await slideServer();
    const admin = server.as(await server.fixtures.admin());
    const viewer = await server.fixtures.user({ role: 'viewer' });
    const listedNames = async () =>
      (await server.as(viewer).call(listImages)).body.images.map(({ file_name }) => file_name);
    for (const [folder, content] of Object.entries(contents)) {
      await server.put(`${folder}/catalogue.csv`, content);
      await server.put(`${folder}/a.svs`, svs);
      await server.put(`${folder}/c.svs`, otherSvs);
    }
    await server.put('Else/d.svs', otherSvs);
    await server.rescan();
    await admin.call(updateDataset, { body: { dataset: 'Gizli çalışma', access: 'restricted' } });
    expect(await listedNames()).toEqual(['d.svs']);
    const counts = async () => (await admin.call(countManagedImages)).body.counts;
    // In each of the 4 folders, 2 slides are on hold and 1 metadata file is shown as failed.
    expect(await counts()).toMatchObject({ held: 8, failed: 4 });
    for (const folder of Object.keys(contents)) await server.put(`${folder}/catalogue.csv`, csv);
    await server.rescan();
    expect((await listedNames()).sort()).toEqual(['c.svs', 'c.svs', 'c.svs', 'c.svs', 'd.svs']);
    expect(await counts()).toMatchObject({ held: 0, failed: 0 });
  });

  it('is hidden from members while a metadata file that an earlier scan found is missing, also after a restart', async () => {
    const { server, accessOfMember, managedEntries, remove } = await startWithRestrictedSlide();
    await remove('Set/catalogue.csv');
    await server.services.catalogue.start(); // scans like a new process
    await server.services.catalogue.settled();
    await server.put('Set/new.svs', otherSvs);
    await server.rescan();
    expect(await accessOfMember(await server.idOf('new.svs'))).toEqual(noAccess);
    expect((await managedEntries({ status: 'failed' })).map(({ error }) => error)).toEqual([
      expect.stringMatching(/^catalogue\.csv: the file is missing\./),
    ]);
  });

  it('is hidden from members while the metadata file is still being written', async () => {
    const { server, accessOfMember } = await startWithRestrictedSlide();
    const file = path.join(server.config.slidesDir, 'Set/catalogue.csv');
    await server.put('Set/new.svs', otherSvs);
    await fs.writeFile(file, heading);
    const finishWriting = (async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      await fs.appendFile(file, 'a.svs,Gizli çalışma,\nnew.svs,Gizli çalışma,\n');
    })();
    await server.rescan();
    await finishWriting;
    expect(await accessOfMember(await server.idOf('new.svs'))).toEqual(noAccess);
  });
});

describe('administrator of a slide folder whose metadata file catalogue.csv is unusable, missing or changed', () => {
  it('sees the metadata file in the slide list, with the reason why it is unusable and the consequence for slides', async () => {
    const { server, managedEntries } = await startWithRestrictedSlide();
    await server.put('Set/catalogue.csv', windows1254);
    await server.rescan();
    expect(await managedEntries({ status: 'failed' })).toMatchObject([
      {
        file_name: 'catalogue.csv',
        error:
          'catalogue.csv: the file is not UTF-8 text. Until it is corrected, slides below it keep their dataset and ' +
          'organ, and new slides are hidden from members.',
      },
    ]);
  });

  it('finds one audit event, even after two scans, about a slide that stays restricted although the file no longer names the slide', async () => {
    const { server, imageId, managedEntries, auditEvents } = await startWithRestrictedSlide();
    await server.put('Set/catalogue.csv', heading);
    await server.rescan();
    await server.rescan();
    expect(await managedEntries({ status: 'held' })).toMatchObject([
      { id: imageId, dataset_name: 'Gizli çalışma', metadata_hold: { kind: 'kept', dataset: 'Set' } },
    ]);
    expect(await auditEvents('image-dataset-kept')).toEqual([
      {
        target: imageId,
        actor: null,
        detail: { dataset: 'Gizli çalışma', dataset_in_files: 'Set' },
      },
    ]);
  });

  it('can move a slide that stayed restricted to the open dataset of its folder, and an audit event names both datasets', async () => {
    const { server, admin, imageId, accessOfMember, managedEntries, auditEvents } =
      await startWithRestrictedSlide();
    await server.put('Set/catalogue.csv', heading);
    await server.rescan();
    await admin.call(changeImages, { body: { ids: [imageId], dataset_name: 'Set' } });
    expect(await accessOfMember()).toEqual(fullAccess);
    await server.rescan();
    expect(await managedEntries()).toMatchObject([{ dataset_name: 'Set', metadata_hold: null }]);
    expect((await auditEvents('image-edited')).map(({ detail }) => detail)).toEqual([
      { fields: 'dataset_name', dataset_before: 'Gizli çalışma', dataset_after: 'Set' },
    ]);
  });

  it('can end the notice about a slide that stayed restricted by moving the slide to the restricted dataset that it is already in', async () => {
    const { server, admin, imageId, accessOfMember, managedEntries } = await startWithRestrictedSlide();
    await server.put('Set/catalogue.csv', heading);
    await server.rescan();
    await admin.call(changeImages, { body: { ids: [imageId], dataset_name: 'Gizli çalışma' } });
    await server.rescan();
    expect(await managedEntries({ status: 'held' })).toEqual([]);
    expect(await accessOfMember()).toEqual(noAccess);
  });

  it('can correct the file so that it names the restricted dataset of the slide again, and the notice about the slide ends', async () => {
    const { server, managedEntries } = await startWithRestrictedSlide();
    await server.put('Set/catalogue.csv', heading);
    await server.rescan();
    await server.put('Set/catalogue.csv', csv);
    await server.rescan();
    expect(await managedEntries()).toMatchObject([{ dataset_name: 'Gizli çalışma', metadata_hold: null }]);
  });

  it('can show a new slide that is hidden because the file is unusable, and the next scan does not hide the slide again', async () => {
    const { server, admin, accessOfMember } = await startWithRestrictedSlide();
    await server.put('Set/catalogue.csv', windows1254);
    await server.put('Set/new.svs', otherSvs);
    await server.rescan();
    const imageId = await server.idOf('new.svs');
    expect(await accessOfMember(imageId)).toEqual(noAccess);
    await admin.call(updateImage, { params: { imageId }, body: { hidden: false } });
    await server.rescan();
    expect(await accessOfMember(imageId)).toEqual(fullAccess);
  });

  it('can hide a new slide in the folder of an unusable file, and the slide stays hidden after the file is corrected', async () => {
    const { server, admin, accessOfMember } = await startWithRestrictedSlide();
    await server.put('Set/catalogue.csv', windows1254);
    await server.put('Set/new.svs', otherSvs);
    await server.rescan();
    const imageId = await server.idOf('new.svs');
    await admin.call(updateImage, { params: { imageId }, body: { hidden: true } });
    await server.put('Set/catalogue.csv', csv);
    await server.rescan();
    expect(await accessOfMember(imageId)).toEqual(noAccess);
  });

  it('can delete the list entry of a missing file: new slides become visible, and a restricted slide stays restricted', async () => {
    const { server, admin, accessOfMember, managedEntries, remove } = await startWithRestrictedSlide();
    await remove('Set/catalogue.csv');
    await server.put('Set/new.svs', otherSvs);
    await server.rescan();
    const [file] = await managedEntries({ status: 'failed' });
    await admin.call(deleteImage, { params: { imageId: file?.id ?? '' } });
    await server.rescan();
    expect(await managedEntries({ status: 'failed' })).toEqual([]);
    expect(await accessOfMember(await server.idOf('new.svs'))).toEqual(fullAccess);
    expect(await accessOfMember()).toEqual(noAccess);
    // When the file returns and disappears again, it is reported as missing again.
    await server.put('Set/catalogue.csv', csv);
    await server.rescan();
    await remove('Set/catalogue.csv');
    await server.rescan();
    expect(await managedEntries({ status: 'failed' })).toHaveLength(1);
  });

  it('finds an audit event with the old and the new dataset for each slide whose dataset a scan changed', async () => {
    const { server, admin, imageId, auditEvents } = await startWithRestrictedSlide();
    await admin.call(updateDataset, { body: { dataset: 'Gizli çalışma', access: 'open' } });
    await server.put('Set/catalogue.csv', `${heading}a.svs,Study B,\n`);
    await server.rescan();
    expect(await auditEvents('image-dataset-changed')).toEqual([
      {
        target: imageId,
        actor: null,
        detail: { dataset_before: 'Gizli çalışma', dataset_after: 'Study B' },
      },
    ]);
  });
});
