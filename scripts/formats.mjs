/** `npm run formats`: writes docs/formats/README.md, the table of what is read of each format. */
import './require-node.mjs';
import { writeFileSync } from 'node:fs';
import { formatsPage } from '../packages/slide/src/corpus/formats-table.ts';

writeFileSync(new URL('../docs/formats/README.md', import.meta.url), formatsPage());
