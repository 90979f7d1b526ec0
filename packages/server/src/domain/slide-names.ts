/** Which of the files of a folder are slides, by their names. What lies beside slides is left alone. */

/** Lower case; a name that ends in one of these is read as a slide. */
const slideEndings = [
  '.svs',
  '.tif',
  '.tiff',
  '.btf',
  '.ndpi',
  '.scn',
  '.mrxs',
  '.vms',
  '.vmu',
  '.bif',
  '.svslide',
  '.dcm',
  '.dicom',
  '.czi',
  '.vsi',
  '.qptiff',
  '.jp2',
  '.jpg',
  '.jpeg',
  '.png',
] as const;

/** Slides whose other files lie in a folder beside them, named after them: by ending, what comes before it to its name. */
const folderNames: Readonly<Record<string, (stem: string) => string>> = {
  '.mrxs': (stem) => stem,
  '.vsi': (stem) => `_${stem}_`,
};

/** A slide that says in a text which files beside it are its own. */
const hamamatsu = /\.vm[su]$/i;

/** A Trestle slide is a `.tif` file, and may have a photograph and overlaps beside it. */
const trestle = /\.tif$/i;
const besideTrestle = /\.full$|\.tif-\d+b$/i;

/** Files that begin with a dot, and folders that do, are never looked at. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

export function hasSlideName(name: string): boolean {
  const lower = name.toLowerCase();
  return slideEndings.some((ending) => lower.endsWith(ending) && lower.length > ending.length);
}

/** DICOM files often have no ending at all, or a unique identifier for a name; only their bytes tell. */
export function mayBeDicomByContent(name: string): boolean {
  return !name.includes('.') || /^[\d.]+$/.test(name);
}

/** @returns in lower case, what the folder is called that belongs to a slide of this name; null for most slides */
export function folderNameOf(name: string): string | null {
  const lower = name.toLowerCase();
  for (const [ending, folderName] of Object.entries(folderNames)) {
    if (lower.endsWith(ending) && lower.length > ending.length) {
      return folderName(lower.slice(0, -ending.length));
    }
  }
  return null;
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

function mayBeDicom(name: string): boolean {
  return /\.(dcm|dicom)$/i.test(name) || mayBeDicomByContent(name);
}
