/** Which of the files of a folder are slides, by their names. What lies beside slides is left alone. */
import { folderNameOf, mayBeDicom } from '@lamina/contract';

export { folderNameOf, hasSlideName, mayBeDicomByContent } from '@lamina/contract';

/** A slide that says in a text which files beside it are its own. */
const hamamatsu = /\.vm[su]$/i;

/** A Trestle slide is a `.tif` file, and may have a photograph and overlaps beside it. */
const trestle = /\.tif$/i;
const besideTrestle = /\.full$|\.tif-\d+b$/i;

/** Files that begin with a dot, and folders that do, are never looked at. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** The names in a folder that are not called like the folder of a slide beside them. */
export function unclaimed(names: readonly string[]): string[] {
  const folders = new Set(names.map(folderNameOf));
  return names.filter((name) => !folders.has(name.toLowerCase()));
}

/**
 * The files of a folder that have to be looked into, all together, to tell which of them are one slide. Most slides
 * are a file by themselves, and known as that by their names.
 */
export function toLookInto(names: readonly string[]): string[] {
  const alone = names.filter((name) => folderNameOf(name) === null);
  if (names.some((name) => hamamatsu.test(name))) return alone;
  const isTrestle = names.some((name) => besideTrestle.test(name));
  return alone.filter(
    (name) => mayBeDicom(name) || (isTrestle && (trestle.test(name) || besideTrestle.test(name))),
  );
}
