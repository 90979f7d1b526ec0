import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatNames } from '../open-slide.ts';
import { documentedFormats, formatsPage } from './formats-table.ts';
import { goodSlides } from './good-slides.ts';

const docs = new URL('../../../../docs/formats/', import.meta.url);

describe('the table of formats in docs/formats', () => {
  it('equals the output of npm run generate-docs', () => {
    expect(readFileSync(new URL('README.md', docs), 'utf8')).toBe(formatsPage());
  });

  it('contains every format with a reader, and every format of the real test files', () => {
    const withReader = formatNames.flatMap((name) =>
      name === 'plain-image' ? ['jpeg', 'png', 'jpeg2000'] : [name],
    );
    const ofRealFiles = goodSlides.map(([, outcome]) => outcome).filter((outcome) => !/[A-Z]/.test(outcome));
    expect([...withReader, ...ofRealFiles].filter((name) => !documentedFormats.has(name))).toEqual([]);
  });

  it('links only to existing pages', () => {
    const pages = formatsPage().match(/(?<=\]\()[\w-]+\.md/g) ?? [];
    expect(pages.filter((page) => !existsSync(new URL(page, docs)))).toEqual([]);
  });
});
