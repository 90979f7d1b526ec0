/** Tests that scans create, change and delete the cases (named groups of slides) that the metadata file `catalogue.csv` names. */
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  type Case,
  createCase,
  deleteCase,
  listCases,
  registerCaseSlides,
  updateCase,
  updateImage,
} from '@lamina/contract';
import { describe, expect, it, vi } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { startCatalogueServer, svs } from './testing/catalogue-server.ts';

// Slides are read in separate processes, which start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** Returns the text of a `catalogue.csv`; each line states file name, case, stain and note of a slide. */
const csv = (...lines: readonly string[]) => `file_name,case,stain,note\n${lines.join('\n')}\n`;

describe.each(databaseKinds)(
  'cases (groups of slides) that the metadata file catalogue.csv names (database: %s)',
  (databaseKind) => {
    /** Starts a server with the slides a.svs, b.svs and c.svs in the folder Set, beside a `catalogue.csv` with this content. */
    async function startWithCsv(content: string) {
      const testCatalogue = await startCatalogueServer(databaseKind);
      const { server, admin } = testCatalogue;
      for (const name of ['a', 'b', 'c']) await server.put(`Set/${name}.svs`, svs);
      const names = new Map<string, string>();
      /** Replaces `catalogue.csv`, and scans. */
      const write = async (text: string) => {
        await server.put('Set/catalogue.csv', text);
        await server.rescan();
        for (const image of await testCatalogue.list(admin)) names.set(image.id, image.file_name);
      };
      await write(content);
      const listStoredCases = async (): Promise<readonly Case[]> => (await admin.call(listCases)).body.cases;
      return {
        ...testCatalogue,
        write,
        listStoredCases,
        /** Returns the cases as `name: slides`, each slide as file name, stain and note. */
        cases: async () =>
          (await listStoredCases()).map(
            ({ name, slides }) =>
              `${name}: ${slides.map(({ image_id, stain, note }) => [names.get(image_id), stain, note].filter(Boolean).join(' ')).join(', ')}`,
          ),
        firstCase: async () => {
          const [caseOfList] = await listStoredCases();
          if (caseOfList === undefined) throw new Error('There is no case.');
          return caseOfList;
        },
        caseActions: async () => {
          const { db } = server.services;
          const rows = await db.selectFrom('audit').select(['action', 'actor_uid']).orderBy('seq').execute();
          return rows
            .filter(({ action }) => action.startsWith('case-'))
            .map(
              ({ action, actor_uid }) => `${action} ${actor_uid === null ? 'by the server' : 'by a person'}`,
            );
        },
      };
    }

    it('are created with their slides in natural order, and updated when the metadata file changes', async () => {
      const { write, cases, listStoredCases, server, caseActions } = await startWithCsv(
        csv('b.svs,V-1,PAS,n', 'a.svs,V-1,H&E,', 'c.svs,V-2,,'),
      );
      expect(await cases()).toEqual(['V-1: a.svs H&E, b.svs PAS n', 'V-2: c.svs']);
      const before = await listStoredCases();
      await server.rescan();
      expect(await listStoredCases()).toEqual(before); // no new version without a change

      await write(csv('a.svs,v-1,Masson,', 'c.svs,V-1,,', 'b.svs,,,'));
      expect(await cases()).toEqual(['v-1: a.svs Masson, c.svs']);
      expect((await listStoredCases()).map(({ id }) => id)).toEqual([before[0]?.id]);
      expect((await caseActions()).toSorted()).toEqual([
        'case-changed by the server',
        'case-created by the server',
        'case-created by the server',
        'case-deleted by the server',
      ]);
    });

    it('keep the fields that an administrator has edited, although the metadata file changes', async () => {
      const { admin, write, cases, firstCase } = await startWithCsv(csv('a.svs,V-1,H&E,', 'b.svs,V-1,PAS,'));
      const { id, slides } = await firstCase();
      const params = { caseId: id };
      const editedSlides = [{ ...slides[1], image_id: slides[1]?.image_id ?? '', stain: 'own stain' }];
      await admin.call(updateCase, { params, body: { slides: editedSlides, description: 'own text' } });
      await write(csv('a.svs,V-1,Masson,', 'b.svs,V-1,Kongo,', 'c.svs,V-1,,'));
      expect(await cases()).toEqual(['V-1: b.svs own stain']);
      expect((await firstCase()).description).toBe('own text');
      await write(csv('a.svs,,,'));
      expect(await cases()).toEqual(['V-1: b.svs own stain']);
    });

    it('stay deleted after an administrator deleted them, although the metadata file still names them', async () => {
      const { admin, write, cases, firstCase, server } = await startWithCsv(
        csv('a.svs,V-1,,', 'b.svs,V-2,,'),
      );
      await admin.call(deleteCase, { params: { caseId: (await firstCase()).id } });
      await server.rescan();
      await write(csv('a.svs,V-1,PAS,', 'b.svs,V-2,,', 'c.svs,V-1,,'));
      expect(await cases()).toEqual(['V-2: b.svs']);
    });

    it('do not replace a case of the same name that an administrator created', async () => {
      const { admin, write, cases, server } = await startWithCsv(csv());
      const slides = [{ image_id: await server.idOf('c.svs') }];
      await admin.call(createCase, { body: { dataset: 'Set', name: 'V-1', slides } });
      await write(csv('a.svs,V-1,,'));
      await write(csv('c.svs,v-1,,'));
      await write(csv());
      expect(await cases()).toEqual(['V-1: c.svs']);
    });

    it.each([
      ['the number of spaces', 'Olgu  1', 'Olgu 1'],
      ['a variation selector, which is invisible', 'Olgu 1', 'Olgu\ufe0f 1'],
      ['ß instead of ss', 'ss 1', 'ß 1'],
    ])(
      'are not created beside a case of an administrator whose name differs only in %s',
      async (_, ofAdmin, ofFile) => {
        const { admin, write, cases, server } = await startWithCsv(csv());
        const slides = [{ image_id: await server.idOf('c.svs') }];
        await admin.call(createCase, { body: { dataset: 'Set', name: ofAdmin, slides } });
        await write(csv(`a.svs,${ofFile},,`));
        expect(await cases()).toEqual([`${ofAdmin}: c.svs`]);
      },
    );

    it('keep their slides while catalogue.csv cannot be parsed, and get a slide back when its missing file reappears', async () => {
      const { write, cases, server } = await startWithCsv(csv('a.svs,V-1,,', 'b.svs,V-1,,'));
      const before = await cases();
      await write(`${csv('a.svs,V-2,,')}b.svs,"broken`);
      expect(await cases()).toEqual(before);
      await write(csv('a.svs,V-1,,', 'b.svs,V-1,,'));
      await fs.rm(path.join(server.config.slidesDir, 'Set/b.svs'));
      await server.rescan();
      expect(await cases()).toEqual(['V-1: a.svs']);
      await server.put('Set/b.svs', svs);
      await server.rescan();
      expect(await cases()).toEqual(before);
    });

    it('are split into one case per dataset after an administrator has moved one of the two slides of a case to another dataset', async () => {
      const { admin, server, listStoredCases } = await startWithCsv(csv('a.svs,V-1,,', 'b.svs,V-1,,'));
      const imageId = await server.idOf('b.svs');
      await admin.call(updateImage, { params: { imageId }, body: { dataset_name: 'Other' } });
      await server.rescan();
      const datasetsAndCases = (await listStoredCases()).map(({ dataset, name, slides }) => [
        dataset,
        name,
        slides.length,
      ]);
      expect(datasetsAndCases).toEqual([
        ['Other', 'V-1', 1],
        ['Set', 'V-1', 1],
      ]);
    });

    it('are not deleted when the metadata file no longer names them, if their slides are registered (aligned) with each other', async () => {
      const { admin, write, cases, firstCase } = await startWithCsv(csv('a.svs,V-1,,', 'b.svs,V-1,,'));
      const { id, slides } = await firstCase();
      const [from_image = '', to_image = ''] = slides.map(({ image_id }) => image_id);
      const points = [
        { from: [0, 0], to: [10, 0] },
        { from: [100, 0], to: [110, 0] },
      ] as const;
      const registered = await admin.call(registerCaseSlides, {
        params: { caseId: id },
        body: {
          from_image,
          to_image,
          points: points.map(({ from, to }) => ({ from: [...from], to: [...to] })),
        },
      });
      expect(registered.status).toBe(200);
      await write(csv('a.svs,,,', 'b.svs,,,'));
      expect(await cases()).toEqual(['V-1: a.svs, b.svs']);
    });
  },
);
