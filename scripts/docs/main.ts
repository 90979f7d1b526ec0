/** `npm run generate-docs`: writes the tables in docs/ that come from data of the code and its tests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { permissionsPage } from '../../packages/server/src/testing/permissions-page.ts';
import { formatsPage } from '../../packages/slide/src/corpus/formats-table.ts';

const docs = new URL('../../docs/', import.meta.url);
const permissions = new URL('permissions.md', docs);

writeFileSync(new URL('formats/README.md', docs), formatsPage());
writeFileSync(permissions, permissionsPage(readFileSync(permissions, 'utf8')));
