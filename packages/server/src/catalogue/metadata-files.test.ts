/** Tests how metadata files (`catalogue.csv`, `dataset.json`) beside slides set their dataset, organ and case. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFolderMetadata, slideMetadataOf } from './metadata-files.ts';

/** Reads metadata files, given by their path below the root, as a scan does. `chain` has the nearest (deepest) folder first. */
async function readMetadata(files: Readonly<Record<string, string | Buffer>>) {
  const folders = Map.groupBy(Object.keys(files), (file) => path.dirname(file).replace(/^\.$/, ''));
  const nearestFirst = [...folders].sort(([a], [b]) => b.length - a.length);
  const folderMetadata = await Promise.all(
    nearestFirst.map(([folder, filesInFolder]) =>
      readFolderMetadata(
        folder,
        filesInFolder.map((file) => {
          const bytes = Buffer.from(files[file] ?? '');
          return { name: path.basename(file), size: bytes.length, read: async () => bytes };
        }),
      ),
    ),
  );
  return {
    chain: folderMetadata.map(({ metadata }) => metadata),
    problems: folderMetadata.flatMap(({ problems }) => problems),
  };
}

describe('dataset of a slide without metadata files', () => {
  it.each([
    ['Breast/a.svs', 'Breast'],
    ['Breast/2024/a.svs', 'Breast'],
    ['a.svs', null],
  ])(
    'is the first folder of the slide path, or null without a folder: for the path %s it is %s',
    (slide, dataset_name) => {
      expect(slideMetadataOf(slide, [])).toEqual({
        dataset_name,
        organ_type: null,
        isMetadataIncomplete: false,
      });
    },
  );
});

describe('metadata file catalogue.csv', () => {
  it('with a cell of 100,000 combining marks is read in less than a second', async () => {
    const marks = '\u0301\u0323'.repeat(50_000);
    const startedAt = performance.now();
    const { chain } = await readMetadata({
      'catalogue.csv': `file_name,dataset_name\n${marks}.svs,A\na.svs,${marks}\nb.svs,Study A\n`,
    });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(slideMetadataOf('b.svs', chain).dataset_name).toBe('Study A');
  });

  it('sets dataset and organ of the slides that its rows name', async () => {
    const { chain } = await readMetadata({
      'catalogue.csv': 'file_name,dataset_name,organ_type\na.svs,Study A,Meme\nsub/b.svs,,Karaciğer\n',
    });
    expect(slideMetadataOf('a.svs', chain)).toMatchObject({ dataset_name: 'Study A', organ_type: 'Meme' });
    expect(slideMetadataOf('sub/b.svs', chain)).toMatchObject({
      dataset_name: 'sub',
      organ_type: 'Karaciğer',
    });
    expect(slideMetadataOf('c.svs', chain)).toEqual({
      dataset_name: null,
      organ_type: null,
      isMetadataIncomplete: false,
    });
  });

  it.each([
    ['with a byte order mark', '\ufefffile_name,organ_type\na.svs,Böbrek\n'],
    ['with semicolons', 'file_name;organ_type\na.svs;Böbrek\n'],
    ['with quotes and Windows line ends', '"file_name","organ_type"\r\n"a.svs","Böbrek"\r\n\r\n'],
    [
      'with an unknown column, and columns in another order and letter case',
      'Stain,ORGAN_TYPE,File_Name\nH&E,Böbrek,a.svs\n',
    ],
    ['with a row that has fewer cells than the header', 'file_name,organ_type,stain\na.svs,Böbrek\nb.svs\n'],
  ])('sets the organ of a slide when the file is written %s', async (_, csv) => {
    const { chain, problems } = await readMetadata({ 'catalogue.csv': csv });
    expect(problems).toEqual([]);
    expect(slideMetadataOf('a.svs', chain).organ_type).toBe('Böbrek');
  });
});

describe('slide that catalogue.csv and dataset.json name', () => {
  it.each([
    ['in NFC and the file name is in NFD', 'Böbrek/ışık.svs', 'Böbrek/ışık.svs'.normalize('NFD')],
    ['in NFD and the file name is in NFC', 'Böbrek/ışık.svs'.normalize('NFD'), 'Böbrek/ışık.svs'],
    ['with a backslash', 'Böbrek\\ışık.svs', 'Böbrek/ışık.svs'],
    ['with a dot and a slash before it', './Böbrek/ışık.svs', 'Böbrek/ışık.svs'],
  ])('gets the values of both files when its path is written %s', async (_, writtenPath, slide) => {
    const { chain } = await readMetadata({
      'catalogue.csv': `file_name,dataset_name\n${writtenPath},Study A\n`,
      'dataset.json': JSON.stringify({ slides: { [writtenPath]: { organ_type: 'Böbrek' } } }),
    });
    expect(slideMetadataOf(slide, chain)).toMatchObject({ dataset_name: 'Study A', organ_type: 'Böbrek' });
  });
});

describe('metadata file dataset.json', () => {
  it('sets the organ of all slides below its folder, or of one slide', async () => {
    const { chain } = await readMetadata({
      'Set/dataset.json': JSON.stringify({
        organ_type: 'Akciğer',
        dataset_name: 'Lung 2026',
        slides: { 'b.svs': { organ_type: 'Plevra' } },
      }),
    });
    expect(slideMetadataOf('Set/deep/a.svs', chain)).toMatchObject({
      dataset_name: 'Lung 2026',
      organ_type: 'Akciğer',
    });
    expect(slideMetadataOf('Set/b.svs', chain)).toMatchObject({
      dataset_name: 'Lung 2026',
      organ_type: 'Plevra',
    });
  });

  it('applies the values for a slide named __proto__ to no other slide', async () => {
    const { chain } = await readMetadata({
      'dataset.json': '{"slides": {"__proto__": {"organ_type": "x"}}}',
    });
    expect(slideMetadataOf('a.svs', chain).organ_type).toBeNull();
  });
});

describe('case (group of slides) of a slide', () => {
  const noDetails = { description: null, stain: null, block: null, note: null };

  it('is set by catalogue.csv, with description, stain, block and note', async () => {
    const { chain, problems } = await readMetadata({
      'catalogue.csv': [
        'file_name;case;case_description;stain;block;note',
        'a.svs;V-1;Core biopsy;H&E;A1;"Folded\nat the edge"',
        'b.svs;V-1;;;;',
        'c.svs;;;PAS;;',
        '',
      ].join('\n'),
    });
    expect(problems).toEqual([]);
    expect(slideMetadataOf('a.svs', chain).inCase).toEqual({
      name: 'V-1',
      description: 'Core biopsy',
      stain: 'H&E',
      block: 'A1',
      note: 'Folded\nat the edge',
    });
    expect(slideMetadataOf('b.svs', chain).inCase).toEqual({ name: 'V-1', ...noDetails });
    expect(slideMetadataOf('c.svs', chain)).not.toHaveProperty('inCase');
  });

  it('is set by dataset.json for all slides below its folder, or for one slide', async () => {
    const { chain } = await readMetadata({
      'Set/V-1/dataset.json': JSON.stringify({
        case: 'V-1',
        slides: { 'a.svs': { stain: 'PAS' }, 'b.svs': { case: 'V-2' } },
      }),
    });
    expect(slideMetadataOf('Set/V-1/a.svs', chain).inCase).toEqual({
      ...noDetails,
      name: 'V-1',
      stain: 'PAS',
    });
    expect(slideMetadataOf('Set/V-1/b.svs', chain).inCase).toEqual({ ...noDetails, name: 'V-2' });
  });

  it.each([
    ['case', 'a case is longer than 200 characters.', 'x'.repeat(201)],
    ['stain', 'a stain is longer than 100 characters.', 'x'.repeat(101)],
    ['block', 'a block contains a control character.', 'A\u00071'],
    ['note', 'a note is longer than 1000 characters.', 'x'.repeat(1001)],
    ['note', 'a note contains an invisible or control character.', 'N\u0000'],
    ['case_description', 'a case_description is longer than 4000 characters.', 'x'.repeat(4001)],
  ])(
    'with an invalid field %s makes the metadata file unusable, which is reported with the reason: %s',
    async (field, reason, value) => {
      const problemsOf = (file: string) => [{ path: file, error: `${file}: ${reason}` }];
      const csv = await readMetadata({ 'catalogue.csv': `file_name,${field}\na.svs,${value}\n` });
      expect(csv.problems).toEqual(problemsOf('catalogue.csv'));
      const json = await readMetadata({
        'dataset.json': JSON.stringify({ slides: { 'a.svs': { [field]: value } } }),
      });
      expect(json.problems).toEqual(problemsOf('dataset.json'));
      expect(slideMetadataOf('a.svs', json.chain)).toMatchObject({ isMetadataIncomplete: true });
    },
  );
});

describe('several metadata files (catalogue.csv, dataset.json) for a slide', () => {
  it('are combined field by field, and the file in the nearest folder takes precedence', async () => {
    const { chain } = await readMetadata({
      'catalogue.csv': 'file_name,dataset_name,organ_type\nSet/a.svs,From the root,Far\n',
      'Set/dataset.json': '{"organ_type": "Near"}',
    });
    expect(slideMetadataOf('Set/a.svs', chain)).toMatchObject({
      dataset_name: 'From the root',
      organ_type: 'Near',
    });
  });

  it('in the same folder are combined, and a value for one slide takes precedence over one for all slides', async () => {
    const { chain } = await readMetadata({
      'Set/dataset.json': '{"organ_type": "All"}',
      'Set/catalogue.csv': 'file_name,organ_type\na.svs,One\n',
    });
    expect(slideMetadataOf('Set/a.svs', chain).organ_type).toBe('One');
    expect(slideMetadataOf('Set/b.svs', chain).organ_type).toBe('All');
  });
});

describe('readFolderMetadata (reads catalogue.csv and dataset.json of a folder)', () => {
  it.each([
    ['catalogue.csv', 'file_name,dataset_name,organ_type\na.svs,Ye\u202eni,Me\u200bme\n'],
    ['dataset.json', JSON.stringify({ dataset_name: 'Ye\u202eni', organ_type: 'Me\u200bme\ud800' })],
  ])(
    'removes invisible characters and bidirectional controls from dataset and organ names in %s',
    async (file, content) => {
      const { problems, chain } = await readMetadata({ [`Set/${file}`]: content });
      expect(problems).toEqual([]);
      expect(slideMetadataOf('Set/a.svs', chain)).toMatchObject({ dataset_name: 'Yeni', organ_type: 'Meme' });
    },
  );
});

describe('unusable metadata file', () => {
  it.each([
    [
      'catalogue.csv',
      'without the column file_name',
      'the first line names no column file_name.',
      'name,organ\na.svs,Meme\n',
    ],
    ['catalogue.csv', 'that is empty', 'the first line names no column file_name.', ''],
    [
      'catalogue.csv',
      'with a quotation mark that is never closed',
      'line 2 cannot be read.',
      'file_name,organ_type\n"a.svs,Meme\n',
    ],
    [
      'catalogue.csv',
      'with more cells than columns',
      'line 2 cannot be read.',
      'file_name,organ_type\na.svs,Meme,x,y\n',
    ],
    [
      'catalogue.csv',
      'in the encoding Latin-1',
      'the file is not UTF-8 text.',
      Buffer.from('file_name,organ_type\na.svs,Böbrek\n', 'latin1'),
    ],
    [
      'catalogue.csv',
      'with a dataset name of 256 characters',
      'a dataset_name is longer than 255 characters.',
      `file_name,dataset_name\na.svs,${'x'.repeat(256)}\n`,
    ],
    [
      'catalogue.csv',
      'with a line break in a dataset name',
      'a dataset_name contains a control character.',
      'file_name,dataset_name\na.svs,"a\nb"\n',
    ],
    [
      'dataset.json',
      'with a NUL character in a dataset name',
      'a dataset_name contains a control character.',
      JSON.stringify({ slides: { 'a.svs': { dataset_name: 'a\u0000b' } } }),
    ],
    ['dataset.json', 'with truncated JSON', 'the file is not valid JSON.', '{"organ_type": '],
    [
      'dataset.json',
      'with a number as organ_type',
      'organ_type has an unexpected type.',
      '{"organ_type": 5}',
    ],
    ['dataset.json', 'with a JSON array', 'the file must contain a JSON object.', '[]'],
    [
      'dataset.json',
      'with a text instead of the values of a slide',
      'slides.a.svs has an unexpected type.',
      '{"slides": {"a.svs": "Meme"}}',
    ],
  ])('%s %s is reported with the reason: %s', async (file, _, reason, content) => {
    const { problems, chain } = await readMetadata({
      [`Set/${file}`]: content,
      'dataset.json': '{"organ_type": "Else"}',
    });
    expect(problems).toEqual([{ path: `Set/${file}`, error: `${file}: ${reason}` }]);
    expect(slideMetadataOf('Set/a.svs', chain)).toEqual({
      dataset_name: 'Set',
      organ_type: 'Else',
      isMetadataIncomplete: true,
    });
    expect(slideMetadataOf('a.svs', chain.slice(-1)).isMetadataIncomplete).toBe(false);
  });
});

describe('metadata file catalogue.csv whose last line has no line break', () => {
  it('applies only to the slides of its complete rows, and is reported as possibly cut off', async () => {
    const { chain, problems } = await readMetadata({
      'catalogue.csv': 'file_name,dataset_name\na.svs,Study A\nb.svs,Study',
    });
    expect(problems).toEqual([
      {
        path: 'catalogue.csv',
        error: 'catalogue.csv: the last line has no line break at its end: the file may have been cut off.',
      },
    ]);
    expect(slideMetadataOf('a.svs', chain)).toMatchObject({
      dataset_name: 'Study A',
      isMetadataIncomplete: false,
    });
    for (const slide of ['b.svs', 'c.svs']) {
      expect(slideMetadataOf(slide, chain)).toMatchObject({ dataset_name: null, isMetadataIncomplete: true });
    }
  });
});

describe('readFolderMetadata (reads catalogue.csv and dataset.json) with a missing or incomplete file', () => {
  it.each([
    ['is missing although an earlier scan found it', [], ['catalogue.csv'], 'the file is missing.'],
    [
      'changed during the last second',
      [{ size: 10, isChanging: true }],
      [],
      'the file is still being written.',
    ],
    ['became shorter while it was read', [{ size: 99 }], [], 'the file is still being written.'],
  ])(
    'marks the metadata of the slides as incomplete when catalogue.csv %s',
    async (_, files, missing, reason) => {
      const read = async () => Buffer.from('file_name\n');
      const { metadata, problems } = await readFolderMetadata(
        'Set',
        files.map((file) => ({ name: 'catalogue.csv', read, ...file })),
        missing,
      );
      expect(problems).toEqual([{ path: 'Set/catalogue.csv', error: `catalogue.csv: ${reason}` }]);
      expect(slideMetadataOf('Set/a.svs', [metadata]).isMetadataIncomplete).toBe(true);
    },
  );
});
