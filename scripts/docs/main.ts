/**
 * `npm run generate-docs`: writes the tables of slide formats and of permissions in docs/, whose content comes from code and test data.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { permissionsPage } from '../../packages/server/src/testing/permissions-page.ts';
import { formatsPage } from '../../packages/slide/src/corpus/formats-table.ts';

const docs = new URL('../../docs/', import.meta.url);
const permissionsFile = new URL('permissions.md', docs);

writeFileSync(new URL('formats/README.md', docs), formatsPage());
// Keeps the text of the page and replaces its tables.
writeFileSync(permissionsFile, permissionsPage(readFileSync(permissionsFile, 'utf8')));
