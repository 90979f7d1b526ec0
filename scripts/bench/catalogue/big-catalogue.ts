/**
 * A generated catalogue of many slides for the benchmark: tiny files in folders, a catalogue.csv with their organs, and a filled
 * database.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, runLockedTransaction } from '../../../packages/server/src/store/database.ts';
import { insertImages } from '../../../packages/server/src/store/images.ts';
import { fingerprintOfVersions, versionOfFile } from '../../../packages/slide/src/index.ts';

/** Organs in Turkish, from breast to spleen. The search must also find them when the query omits their diacritics. */
const organs = [
  'Meme',
  'Kolon',
  'Karaciğer',
  'Akciğer',
  'Böbrek',
  'Deri',
  'Prostat',
  'Tiroid',
  'Mide',
  'Dalak',
];
const stains = ['HE', 'Ki-67', 'ER', 'PR', 'HER2', 'PAS'];
/** Every 5000th slide has the rare organ. */
const rareOrganInterval = 5000;

/** Names of the 40 datasets. */
export const datasets = Array.from({ length: 40 }, (_, i) => `Study ${String(i + 1)}`);
/** Name of the rare organ (thymus). */
export const rareOrgan = 'Timus';

/** A generated slide. */
interface SlideEntry {
  readonly dataset: string;
  readonly organ: string;
  readonly name: string;
  /** Path below the slide folder. */
  readonly path: string;
}

/** Generates `count` slides, distributed evenly among the datasets, with 250 slides per folder. */
function generateSlides(count: number): SlideEntry[] {
  return Array.from({ length: count }, (_, i) => {
    const dataset = datasets[i % datasets.length] ?? '';
    const indexInDataset = Math.floor(i / datasets.length);
    const year = 2000 + Math.floor(indexInDataset / 250);
    const shortYear = String(year).slice(2);
    const name = `B${shortYear}-${String(10_000 + indexInDataset * 7)}-${(i % 3) + 1} ${stains[i % stains.length]}.svs`;
    const organ = i % rareOrganInterval === 0 ? rareOrgan : (organs[i % organs.length] ?? '');
    return { dataset, organ, name, path: `${dataset}/${year}/${name}` };
  });
}

/** Creates the slide folder with `count` files unless an earlier run has created it. @returns its path */
export function makeFiles(cache: string, count: number): string {
  const folder = join(cache, `slides-${count}`);
  const completionMarker = join(cache, `slides-${count}.done`);
  if (existsSync(completionMarker)) return folder;
  console.log(`Making ${count.toLocaleString('en')} files …`);
  const slides = generateSlides(count);
  for (const { path } of slides) {
    const file = join(folder, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, 'x'); // the server does not open it, because the database contains its entry (see `fillDatabase`)
  }
  for (const dataset of datasets) {
    const rows = slides.filter((slide) => slide.dataset === dataset);
    const lines = rows.map(({ name, organ }) => `${name},${organ}\n`);
    writeFileSync(join(folder, dataset, 'catalogue.csv'), `file_name,organ_type\n${lines.join('')}`);
  }
  writeFileSync(completionMarker, '');
  return folder;
}

/**
 * Inserts an entry for every file into an empty database, so that the server does not read the files.
 *
 * @param location `url` of a PostgreSQL database; when it is null, `file` is the SQLite database
 */
export async function fillDatabase(
  location: { readonly url: string | null; readonly file: string },
  folder: string,
  count: number,
): Promise<void> {
  const db = await openDatabase(location);
  try {
    const insertedAt = new Date().toISOString();
    const slides = generateSlides(count);
    // A transaction inserts 500 slides, with statements of 100 rows each.
    for (let from = 0; from < slides.length; from += 500) {
      const rows = slides.slice(from, from + 500).map(({ dataset, organ, name, path }) => ({
        id: randomUUID(),
        root: 'slides' as const, // in SLIDES_DIR, not in a bucket
        path,
        members: '[]', // the slide consists of one file
        fingerprint: fingerprintOfVersions([versionOfFile(lstatSync(join(folder, path), { bigint: true }))]),
        file_name: name,
        dataset_name: dataset,
        organ_type: organ,
        size_bytes: 1,
      }));
      await runLockedTransaction(db, 'catalogue', async (tx) => {
        for (let i = 0; i < rows.length; i += 100) await insertImages(tx, rows.slice(i, i + 100), insertedAt);
      });
    }
    // `insertImages` sets the status `pending`; the server would read slides with this status.
    const properties = { width: 100_000, height: 80_000, mpp_x: 0.2527, mpp_y: 0.2527, objective_power: 40 };
    await runLockedTransaction(db, 'catalogue', (tx) =>
      tx
        .updateTable('images')
        .set({ ...properties, status: 'ready', vendor: 'Aperio', format: 'aperio', size_bytes: 1 })
        .execute(),
    );
  } finally {
    await db.destroy();
  }
}

/** Returns the number of folders below a folder, at all depths. */
export function countFolders(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).length;
}
