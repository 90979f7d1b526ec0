/** The catalogue of slides: what lies in the slide folders, what administrators say of it, who may see what. */
import type { BodyOf, Image, listImages, QueryOf, ResponseOf, User, updateImage } from '@lamina/contract';
import type { Logger } from 'pino';
import type { Audit, Origin } from '../audit.ts';
import type { Config } from '../config.ts';
import type { ServableImage, Slides } from '../slides/slides.ts';
import type { Database } from '../store/database.ts';

/** Who changes an entry and where from, for the audit trail. */
export interface Editor {
  readonly uid: string;
  readonly origin: Origin;
}

export interface Catalogue {
  /** Looks through the slide folders and goes on watching them; what is new is read behind. */
  start(): Promise<void>;
  /** Looks through the slide folders again; resolves when every file there has its entry, read or not. */
  rescan(): Promise<void>;
  /** Resolves when nothing waits to be read. */
  settled(): Promise<void>;
  /** Whether no entry is listed for an administrator. */
  isEmpty(): Promise<boolean>;
  /** Administrators see every entry that is not removed; all others the ready ones, without `error`. */
  list(query: QueryOf<typeof listImages>, reader: User): Promise<ResponseOf<typeof listImages>>;
  /** @throws AppError not_found, also for an entry the reader may not see */
  get(imageId: string, reader: User): Promise<Image>;
  /** What is set here survives rescans. @throws AppError not_found */
  update(imageId: string, changes: BodyOf<typeof updateImage>, editor: Editor): Promise<Image>;
  /** The file stays. @throws AppError not_found */
  remove(imageId: string, editor: Editor): Promise<void>;
  /** From memory where it was asked for within the last second; null for what may not be shown. */
  servable(imageId: string): ServableImage | null | Promise<ServableImage | null>;
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  readonly slides: Slides;
}

export function createCatalogue(_ground: Ground): Catalogue {
  throw new Error('not yet');
}
