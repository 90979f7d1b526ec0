import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { permissionsPage } from './permissions-page.ts';

const page = readFileSync(new URL('../../../../docs/permissions.md', import.meta.url), 'utf8');

describe('docs/permissions.md', () => {
  it('has the tables that npm run generate-docs writes from the data of the permission tests', () => {
    expect(page).toBe(permissionsPage(page));
  });

  it('has all five generated tables', () => {
    const names = [...page.matchAll(/<!-- generated:(\w+) -->/g)].map(([, name]) => name);
    expect(names).toEqual(['permissions', 'routes', 'catalogue', 'pixels', 'states']);
  });
});
