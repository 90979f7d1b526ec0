import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { permissionsPage } from './permissions-page.ts';

const page = readFileSync(new URL('../../../../docs/permissions.md', import.meta.url), 'utf8');

describe('the documentation page docs/permissions.md', () => {
  it('equals the page that npm run generate-docs writes from the data of the permission tests', () => {
    expect(page).toBe(permissionsPage(page));
  });

  it('has five generated tables: permissions, routes, catalogue, pixels and states', () => {
    const names = [...page.matchAll(/<!-- generated:(\w+) -->/g)].map(([, name]) => name);
    expect(names).toEqual(['permissions', 'routes', 'catalogue', 'pixels', 'states']);
  });
});
