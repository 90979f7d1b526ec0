/** Which names are read as slides, and which of those are a slide by themselves. */

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

/** Of these, a slide is several files, as a rule. */
const endingsOfSeveral = ['.mrxs', '.vms', '.vmu', '.dcm', '.dicom', '.vsi'] as const;

/** Slides whose other files lie in a folder beside them, named after them: by ending, what comes before it to its name. */
const folderNames: Readonly<Record<string, (stem: string) => string>> = {
  '.mrxs': (stem) => stem,
  '.vsi': (stem) => `_${stem}_`,
};

export function hasSlideName(name: string): boolean {
  return endsIn(slideEndings, name);
}

/** Whether such a file is a slide without any other, whatever lies beside it. */
export function isSlideByItself(name: string): boolean {
  return hasSlideName(name) && !endsIn(endingsOfSeveral, name);
}

/** DICOM files often have no ending at all, or a unique identifier for a name; only their bytes tell. */
export function mayBeDicomByContent(name: string): boolean {
  return !name.includes('.') || /^[\d.]+$/.test(name);
}

export function mayBeDicom(name: string): boolean {
  return /\.(dcm|dicom)$/i.test(name) || mayBeDicomByContent(name);
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

function endsIn(endings: readonly string[], name: string): boolean {
  const lower = name.toLowerCase();
  return endings.some((ending) => lower.endsWith(ending) && lower.length > ending.length);
}
