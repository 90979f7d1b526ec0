import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatReaderNames } from '../open-slide.ts';
import { documentedFormats, formatsPage } from './formats-table.ts';
import { goodSlides } from './good-slides.ts';

const docs = new URL('../../../../docs/formats/', import.meta.url);

describe('formatsPage (text of docs/formats/README.md)', () => {
  it('equals the file in the repository, which npm run generate-docs writes', () => {
    expect(readFileSync(new URL('README.md', docs), 'utf8')).toBe(formatsPage());
  });

  it('lists every slide format that Lamina reads and every format of the real test files', () => {
    const formatsWithReader = formatReaderNames.flatMap((name) =>
      name === 'plain-image' ? ['jpeg', 'png', 'jpeg2000'] : [name],
    );
    // Outcomes are formats in lower case, or error codes in upper case.
    const formatsOfRealFiles = goodSlides
      .map(([, outcome]) => outcome)
      .filter((outcome) => !/[A-Z]/.test(outcome));
    const formats = [...formatsWithReader, ...formatsOfRealFiles];
    expect(formats.filter((name) => !documentedFormats.has(name))).toEqual([]);
  });

  it('links only to existing pages of docs/formats', () => {
    const pages = formatsPage().match(/(?<=\]\()[\w-]+\.md/g) ?? [];
    expect(pages.filter((page) => !existsSync(new URL(page, docs)))).toEqual([]);
  });
});
