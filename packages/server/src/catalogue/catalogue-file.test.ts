/** Tests the parser of catalogue files: CSV files that administrators export, edit and import. */
import { AppError, errorText, maxCatalogueFileLines } from '@lamina/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvByteOrderMark, formatCsvLine } from '../platform/csv.ts';
import { readCatalogueFile } from './catalogue-file.ts';

/** Parses the text of a catalogue file. */
const read = (text: string) => readCatalogueFile(Buffer.from(text));
const heading = 'id,file_name,dataset_name,organ_type\r\n';

describe('readCatalogueFile (parser of catalogue CSV files)', () => {
  it.each([
    ['commas as separators', 'file_name,dataset_name,organ_type\r\na.svs,"Böbrek, sol",\r\n'],
    ['semicolons as separators', 'file_name;dataset_name;organ_type\na.svs;Böbrek, sol;\n'],
    ['tabs as separators', 'file_name\tdataset_name\torgan_type\na.svs\tBöbrek, sol\t'],
    ['a byte order mark', `${csvByteOrderMark}file_name;dataset_name\na.svs;Böbrek, sol`],
    ['columns in another order', 'organ_type;Dataset_Name;"FILE_NAME"\n;Böbrek, sol;a.svs\n'],
    ['additional unknown columns', 'not;file_name;dataset_name\nacele;a.svs;Böbrek, sol\n'],
    [
      'an unknown column named line, which is also a property of a parsed row',
      'line;file_name;dataset_name\n9;a.svs;Böbrek, sol\n',
    ],
    ['empty lines', '\uFEFFfile_name;dataset_name\n\n;\na.svs;Böbrek, sol\n\n'],
  ])('returns the row of a file with %s', async (_, text) => {
    const { encoding, rows, problems } = await read(text);
    expect(encoding).toBe('utf-8');
    expect(problems).toEqual([]);
    expect(rows).toEqual([
      {
        line: expect.any(Number) as number,
        id: null,
        file_name: 'a.svs',
        dataset_name: 'Böbrek, sol',
        organ_type: null,
      },
    ]);
  });

  it('returns Turkish letters of a file in the encoding windows-1254, which Turkish spreadsheet programs write', async () => {
    // "ğ ş ı İ Ş Ğ ö ç" in windows-1254.
    const turkishLetters = Buffer.from([0xf0, 0xfe, 0xfd, 0xdd, 0xde, 0xd0, 0xf6, 0xe7]);
    const bytes = Buffer.concat([Buffer.from('file_name;organ_type\r\na.svs;'), turkishLetters]);
    expect(await readCatalogueFile(bytes)).toMatchObject({
      encoding: 'windows-1254',
      rows: [{ organ_type: 'ğşıİŞĞöç' }],
    });
  });

  it.each([
    ['an empty file', Buffer.alloc(0), 'Dosya boş.'],
    [
      'a spreadsheet workbook',
      Buffer.from('PK\u0003\u0004\u0000\u0000file_name'),
      /Bu bir CSV dosyası değil/,
    ],
    ['a file in UTF-16', Buffer.from('\uFEFFfile_name;organ_type\n', 'utf16le'), /Bu bir CSV dosyası değil/],
    ['bytes that are not text', Buffer.from([0x66, 0x81, 0x8d, 0xff]), /Bu bir CSV dosyası değil/],
    [
      'a file with neither the column id nor the column file_name',
      Buffer.from('name;organ_type\n'),
      /“id” ya da “file_name”/,
    ],
    ['a file with a repeated column', Buffer.from('file_name;organ_type;organ_type\n'), /iki kez/],
    [
      'a file with more than 100,000 lines',
      Buffer.from(`file_name\n${'a.svs\n'.repeat(maxCatalogueFileLines + 1)}`),
      /100\.000 satırdan fazlası/,
    ],
  ])('throws invalid_request with a sentence that gives the reason for %s', async (_, bytes, sentence) => {
    const thrown = await readCatalogueFile(bytes).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(AppError);
    expect(thrown).toMatchObject({ code: 'invalid_request', detail: { field: 'file' } });
    expect(errorText(thrown as AppError, 'tr')).toMatch(sentence);
  });

  it('reports each invalid row with a reason, and returns the valid rows', async () => {
    const { rows, problems } = await read(
      [
        'file_name,organ_type',
        'a.svs,Meme',
        'b.svs,Meme,too much',
        `c.svs,${'x'.repeat(201)}`,
        ',Meme',
        '"e\u0007.svs",Meme',
        '"two\nlines.svs",Meme',
        'f.svs,Akciğer',
      ].join('\r\n'),
    );
    expect(rows.map(({ line, file_name }) => [line, file_name])).toEqual([
      [2, 'a.svs'],
      [9, 'f.svs'],
    ]);
    expect(problems.map(({ line, subject, reason }) => [line, subject, reason.tr])).toEqual([
      [3, 'b.svs', expect.stringContaining('çok sütun')],
      [4, 'c.svs', expect.stringContaining('en fazla 200')],
      [5, '', expect.stringContaining('hangi slaytla')],
      [6, 'e\u0007.svs', expect.stringContaining('denetim karakteri')],
      [8, 'two\nlines.svs', expect.stringContaining('satır sonu')],
    ]);
  });

  it.each([
    ['a quotation mark that is never closed', '"b.svs\nc.svs\n', 4],
    ['a closing quotation mark that is followed by more text in the cell', '"b".svs\nc.svs\n', 3],
  ])('reports %s, and returns no row after it', async (_, linesAfterFirstSlide, line) => {
    const { rows, problems } = await read(`file_name\na.svs\n${linesAfterFirstSlide}`);
    expect(rows.map(({ file_name }) => file_name)).not.toContain('c.svs');
    expect(problems).toMatchObject([
      { line, subject: '', reason: { tr: expect.stringContaining('Tırnak') } },
    ]);
  });

  it('returns, for random strings, the file name and organ that the catalogue export has written', async () => {
    const randomText = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 50 })
      .map((characters) => characters.replaceAll(/[\p{Cc}\p{Cs}\uFEFF]/gu, '').trim());
    // The import removes an apostrophe before a character that starts a formula, as in `'=1+1`, so such texts would change.
    const unguardedText = randomText.filter(
      (text) =>
        text !== '' &&
        !/(?:^|[;\t])["\s]*'[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]/.test(text),
    );
    await fc.assert(
      fc.asyncProperty(unguardedText, unguardedText, async (file_name, organ_type) => {
        const csvLine = formatCsvLine(['id-1', file_name, null, organ_type]);
        const { rows } = await read(csvByteOrderMark + heading + csvLine);
        expect(rows).toEqual([{ line: 2, id: 'id-1', file_name, dataset_name: null, organ_type }]);
      }),
      { numRuns: 50 },
    );
  });
});
