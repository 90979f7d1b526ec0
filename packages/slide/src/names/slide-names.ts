/**
 * Rules that recognise slides and their companion files by name only, without reading a file. The server uses them to scan
 * folders and to accept uploads. The upload dialog uses them in the browser, so the modules in `names/` import only each other.
 *
 * Companions are the other files of a slide. There are four kinds: `folder` (files in a folder named after the slide), `listed`
 * (in the main file), `optional` (files whose names follow a pattern) and `series` (DICOM files of the same series).
 */
import { type Companions, dicomSignature, type FormatNames, formatNames } from './format-names.ts';

export { resultNameOf, slideStemOf, withoutResults } from './result-names.ts';
export { dicomSignature };

type CompanionsOf<Kind extends Companions['kind']> = FormatNames & {
  readonly companions: Extract<Companions, { kind: Kind }>;
};

const hasCompanionsOfKind =
  <Kind extends Companions['kind']>(kind: Kind) =>
  (format: FormatNames): format is CompanionsOf<Kind> =>
    format.companions?.kind === kind;

const extensionsOf = (formats: readonly FormatNames[]) => [
  ...new Set(formats.flatMap(({ extensions }) => extensions)),
];

const formatsWithFolder = formatNames.filter(hasCompanionsOfKind('folder'));
const formatsWithOptionalCompanions = formatNames.filter(hasCompanionsOfKind('optional'));
const listingExtensions = extensionsOf(formatNames.filter(hasCompanionsOfKind('listed')));
const dicomExtensions = extensionsOf(formatNames.filter(hasCompanionsOfKind('series')));
const extensionsWithCompanions = [
  ...extensionsOf(formatsWithFolder),
  ...listingExtensions,
  ...dicomExtensions,
];
const slideExtensions = extensionsOf(formatNames);

/** Longest first, because `.ome.tif` ends with `.tif`. */
const slideExtensionsByLength = slideExtensions.toSorted((a, b) => b.length - a.length);

/** Returns the name of a slide file without its extension: `Slide` for `Slide.ome.tif`. Any other name is returned as it is. */
export function withoutSlideExtension(name: string): string {
  const extension = slideExtensionsByLength.find((candidate) => hasExtension(name, [candidate])) ?? '';
  return name.slice(0, name.length - extension.length);
}

/** Whether a file of this name is opened as a slide. DICOM files without an extension are not covered. */
export function hasSlideName(name: string): boolean {
  return hasExtension(name, slideExtensions);
}

/** Whether a slide of this name usually consists of several files. */
export function usuallyHasCompanions(name: string): boolean {
  return hasExtension(name, extensionsWithCompanions) || mayBeDicomByContent(name);
}

/** Whether a file of this name lists the other files of its slide. The listed files may be any files in the same folder. */
export function listsItsCompanions(name: string): boolean {
  return hasExtension(name, listingExtensions);
}

/**
 * Whether the file may be DICOM although its name does not say so: it has no extension, or its name is a DICOM unique
 * identifier (digits and dots).
 */
export function mayBeDicomByContent(name: string): boolean {
  return !name.includes('.') || /^[\d.]+$/.test(name);
}

/** Whether the file may be DICOM: by its extension, or because its name does not reveal its format (`mayBeDicomByContent`). */
export function mayBeDicom(name: string): boolean {
  return hasExtension(name, dicomExtensions) || mayBeDicomByContent(name);
}

/** Returns the lower-case name of the companion folder of a slide; null for formats without such a folder. */
export function companionFolderOf(name: string): string | null {
  const lower = name.toLowerCase();
  for (const { extensions, companions } of formatsWithFolder) {
    const extension = extensions.find((candidate) => hasExtension(name, [candidate]));
    if (extension !== undefined) return companions.folderName(lower.slice(0, -extension.length));
  }
  return null;
}

/** Returns the names of a folder without the companion folders of the slides in it. */
export function withoutCompanionFolders(names: readonly string[]): string[] {
  const folders = new Set(names.map(companionFolderOf));
  return names.filter((name) => !folders.has(name.toLowerCase()));
}

/** Returns the files of a folder whose content must be read to group them into slides. */
export function filesToInspect(names: readonly string[]): string[] {
  // A slide with a companion folder is grouped by names only.
  const candidates = names.filter((name) => companionFolderOf(name) === null);
  if (names.some(listsItsCompanions)) return candidates; // any of them may be a companion
  // Formats with optional companions matter only if the folder contains at least one file with a companion's name.
  const relevantFormats = formatsWithOptionalCompanions.filter(({ companions }) =>
    names.some((name) => companions.pattern.test(name)),
  );
  return candidates.filter(
    (name) =>
      mayBeDicom(name) ||
      relevantFormats.some(
        ({ extensions, companions }) => hasExtension(name, extensions) || companions.pattern.test(name),
      ),
  );
}

/** Whether a name ends with one of the extensions and has characters before it. */
function hasExtension(name: string, extensions: readonly string[]): boolean {
  const lower = name.toLowerCase();
  return extensions.some((extension) => lower.endsWith(extension) && lower.length > extension.length);
}
