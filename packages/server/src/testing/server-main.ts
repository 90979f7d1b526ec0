/**
 * Runs the whole server in its own process, as main.ts does, with three differences for tests: password hashes are cheap to compute,
 * demonstration slides are small, and processes with different data folders can share one database file.
 *
 * server-process.ts starts it with `node server-main.ts [database file]`, and passes the settings in the environment.
 */
import { flushCompileCache } from 'node:module';
import pino from 'pino';
import { ensureFirstAdmin } from '../accounts/first-admin.ts';
import { buildApp } from '../app.ts';
import { recordSettingsChange } from '../audit/settings-event.ts';
import { registerDemoSlidesJob } from '../catalogue/demo-slides.ts';
import { configOfProcess } from '../platform/config.ts';
import { createServices } from '../services.ts';
import { openDatabase } from '../store/database.ts';
import { cheapPasswords } from './cheap-passwords.ts';

const config = configOfProcess();
const db = await openDatabase({ url: config.databaseUrl, file: process.argv[2] ?? null });
const log = pino({ level: config.logLevel }, pino.destination({ fd: 2, sync: false }));
const services = await createServices({ config, db, log, passwordCost: cheapPasswords });
const app = await buildApp(services);
await ensureFirstAdmin(services);
await recordSettingsChange(services, config);
const address = await app.listen({ host: config.host, port: config.port });
/** The rectangle of each demonstration slide that is written, in pixels of full resolution. */
const area = { x: 9000, y: 5000, width: 512, height: 512 };
registerDemoSlidesJob({ ...services, parts: { colon: area, liver: area } });
await services.catalogue.start();
services.uploads.start();
await services.jobs.start();
await services.catalogue.settled();
flushCompileCache(); // Node writes the cache only when a process ends by itself, but a test may kill this process
console.log(`listening at ${address}`);
