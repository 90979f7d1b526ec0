import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFolderMetadata, slideMetadataOf } from './metadata-files.ts';

/** Metadata files, by their path below the root, read as a scan does. */
async function given(files: Readonly<Record<string, string | Buffer>>) {
  const folders = Map.groupBy(Object.keys(files), (file) => path.dirname(file).replace(/^\.$/, ''));
  const nearestFirst = [...folders].sort(([a], [b]) => b.length - a.length);
  const read = await Promise.all(
    nearestFirst.map(([folder, inIt]) =>
      readFolderMetadata(
        folder,
        inIt.map((file) => {
          const bytes = Buffer.from(files[file] ?? '');
          return { name: path.basename(file), size: bytes.length, read: async () => bytes };
        }),
      ),
    ),
  );
  return {
    chain: read.map(({ metadata }) => metadata),
    problems: read.flatMap(({ problems }) => problems),
  };
}

describe('the dataset of a slide', () => {
  it.each([
    ['Breast/a.svs', 'Breast'],
    ['Breast/2024/a.svs', 'Breast'],
    ['a.svs', null],
  ])('of %s is the first folder, when nothing else is said: %s', (slide, dataset_name) => {
    expect(slideMetadataOf(slide, [])).toEqual({ dataset_name, organ_type: null });
  });
});

describe('catalogue.csv', () => {
  it('says dataset and organ of slides by their name', async () => {
    const { chain } = await given({
      'catalogue.csv': 'file_name,dataset_name,organ_type\na.svs,Study A,Meme\nsub/b.svs,,Karaciğer\n',
    });
    expect(slideMetadataOf('a.svs', chain)).toEqual({ dataset_name: 'Study A', organ_type: 'Meme' });
    expect(slideMetadataOf('sub/b.svs', chain)).toEqual({ dataset_name: 'sub', organ_type: 'Karaciğer' });
    expect(slideMetadataOf('c.svs', chain)).toEqual({ dataset_name: null, organ_type: null });
  });

  it.each([
    ['with a byte order mark', '\ufefffile_name,organ_type\na.svs,Böbrek\n'],
    ['with semicolons', 'file_name;organ_type\na.svs;Böbrek\n'],
    ['with quotes and Windows line ends', '"file_name","organ_type"\r\n"a.svs","Böbrek"\r\n\r\n'],
    ['with other columns, in any order and case', 'Stain,ORGAN_TYPE,File_Name\nH&E,Böbrek,a.svs\n'],
    ['with a row that ends early', 'file_name,organ_type,stain\na.svs,Böbrek\nb.svs\n'],
  ])('may be written %s', async (_, csv) => {
    const { chain, problems } = await given({ 'catalogue.csv': csv });
    expect(problems).toEqual([]);
    expect(slideMetadataOf('a.svs', chain).organ_type).toBe('Böbrek');
  });
});

describe('dataset.json', () => {
  it('says the organ of all slides below it, or of one', async () => {
    const { chain } = await given({
      'Set/dataset.json': JSON.stringify({
        organ_type: 'Akciğer',
        dataset_name: 'Lung 2026',
        slides: { 'b.svs': { organ_type: 'Plevra' } },
      }),
    });
    expect(slideMetadataOf('Set/deep/a.svs', chain)).toEqual({
      dataset_name: 'Lung 2026',
      organ_type: 'Akciğer',
    });
    expect(slideMetadataOf('Set/b.svs', chain)).toEqual({ dataset_name: 'Lung 2026', organ_type: 'Plevra' });
  });
});

describe('of several metadata files', () => {
  it('the nearest folder wins, field by field', async () => {
    const { chain } = await given({
      'catalogue.csv': 'file_name,dataset_name,organ_type\nSet/a.svs,From the root,Far\n',
      'Set/dataset.json': '{"organ_type": "Near"}',
    });
    expect(slideMetadataOf('Set/a.svs', chain)).toEqual({
      dataset_name: 'From the root',
      organ_type: 'Near',
    });
  });

  it('in one folder, what is said of a slide goes before what is said of all', async () => {
    const { chain } = await given({
      'Set/dataset.json': '{"organ_type": "All"}',
      'Set/catalogue.csv': 'file_name,organ_type\na.svs,One\n',
    });
    expect(slideMetadataOf('Set/a.svs', chain).organ_type).toBe('One');
    expect(slideMetadataOf('Set/b.svs', chain).organ_type).toBe('All');
  });
});

describe('a metadata file that cannot be used', () => {
  it.each([
    ['catalogue.csv', 'name,organ\na.svs,Meme\n', 'the first line names no column file_name.'],
    ['catalogue.csv', '', 'the first line names no column file_name.'],
    ['catalogue.csv', 'file_name,organ_type\n"a.svs,Meme\n', 'line 2 cannot be read.'],
    ['catalogue.csv', 'file_name,organ_type\na.svs,Meme,x,y\n', 'line 2 cannot be read.'],
    [
      'catalogue.csv',
      Buffer.from('file_name,organ_type\na.svs,Böbrek\n', 'latin1'),
      'the file is not UTF-8 text.',
    ],
    ['dataset.json', '{"organ_type": ', 'the file is not valid JSON.'],
    ['dataset.json', '{"organ_type": 5}', 'organ_type is not what is expected there.'],
    ['dataset.json', '[]', 'the whole is not what is expected there.'],
    ['dataset.json', '{"slides": {"a.svs": "Meme"}}', 'slides.a.svs is not what is expected there.'],
  ])('%s: %s', async (file, content, reason) => {
    const { problems, chain } = await given({
      [`Set/${file}`]: content,
      'dataset.json': '{"organ_type": "Else"}',
    });
    expect(problems).toEqual([{ path: `Set/${file}`, error: `${file}: ${reason}` }]);
    expect(slideMetadataOf('Set/a.svs', chain)).toEqual({ dataset_name: 'Set', organ_type: 'Else' });
  });

  it('is one that names a prototype, too: it stays a name', async () => {
    const { chain } = await given({ 'dataset.json': '{"slides": {"__proto__": {"organ_type": "x"}}}' });
    expect(slideMetadataOf('a.svs', chain).organ_type).toBeNull();
  });
});
