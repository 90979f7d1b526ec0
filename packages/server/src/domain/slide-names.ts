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

/** A slide of several files has one leading file, which stands for it; the others are claimed by it. */
interface Claim {
  /** Ending of the leading file. */
  readonly leading: string;
  /** Whether a file or folder beside it belongs to it; both names in lower case, the leading one without ending. */
  readonly claims: (name: string, stem: string) => boolean;
}

const claims: readonly Claim[] = [
  { leading: '.mrxs', claims: (name, stem) => name === stem },
  { leading: '.vms', claims: (name, stem) => name.startsWith(stem) },
  { leading: '.vmu', claims: (name, stem) => name.startsWith(stem) },
  { leading: '.vsi', claims: (name, stem) => name === `_${stem}_` },
];

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

/** The names in a folder that do not belong to another one's slide. */
export function unclaimed(names: readonly string[]): string[] {
  const claimed = new Set<string>();
  for (const { leading, claims: isClaimed } of claims) {
    for (const leader of names) {
      const lower = leader.toLowerCase();
      if (!lower.endsWith(leading)) continue;
      const stem = lower.slice(0, -leading.length);
      if (stem === '') continue;
      for (const name of names) if (name !== leader && isClaimed(name.toLowerCase(), stem)) claimed.add(name);
    }
  }
  return names.filter((name) => !claimed.has(name));
}
