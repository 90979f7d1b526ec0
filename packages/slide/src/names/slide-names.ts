/**
 * What the names of files tell about slides; nothing is read. The scan and the uploads of the server decide by these
 * rules, and the upload dialog of the web app applies the same rules in the browser: no imports from outside this folder.
 */
import { type Companions, dicomSignature, type FormatNames, formatNames } from './format-names.ts';

export { resultNameOf, slideStemOf, withoutResults } from './result-names.ts';
export { dicomSignature };

type CompanionsOf<Kind extends Companions['kind']> = FormatNames & {
  readonly companions: Extract<Companions, { kind: Kind }>;
};

const isKind =
  <Kind extends Companions['kind']>(kind: Kind) =>
  (names: FormatNames): names is CompanionsOf<Kind> =>
    names.companions?.kind === kind;

const extensionsOf = (names: readonly FormatNames[]) => [
  ...new Set(names.flatMap(({ extensions }) => extensions)),
];

const withFolder = formatNames.filter(isKind('folder'));
const withOptionalCompanions = formatNames.filter(isKind('optional'));
const listingExtensions = extensionsOf(formatNames.filter(isKind('listed')));
const dicomExtensions = extensionsOf(formatNames.filter(isKind('series')));
const companionExtensions = [...extensionsOf(withFolder), ...listingExtensions, ...dicomExtensions];
const slideExtensions = extensionsOf(formatNames);

/** Whether a file of this name is opened as a slide. DICOM files without an extension are not covered. */
export function hasSlideName(name: string): boolean {
  return hasExtension(name, slideExtensions);
}

/** Whether a slide of this name usually consists of several files. */
export function usuallyHasCompanions(name: string): boolean {
  return hasExtension(name, companionExtensions) || mayBeDicomByContent(name);
}

/** Whether the file lists the other files of its slide, which may be any files beside it. */
export function listsItsCompanions(name: string): boolean {
  return hasExtension(name, listingExtensions);
}

/** Whether only the content can show that a file is DICOM: no extension, or a unique identifier as its name. */
export function mayBeDicomByContent(name: string): boolean {
  return !name.includes('.') || /^[\d.]+$/.test(name);
}

export function mayBeDicom(name: string): boolean {
  return hasExtension(name, dicomExtensions) || mayBeDicomByContent(name);
}

/** Returns the lower-case name of the folder that belongs to a slide of this name; null for most slides. */
export function companionFolderOf(name: string): string | null {
  const lower = name.toLowerCase();
  for (const { extensions, companions } of withFolder) {
    const extension = extensions.find((each) => lower.endsWith(each) && lower.length > each.length);
    if (extension !== undefined) return companions.folderName(lower.slice(0, -extension.length));
  }
  return null;
}

/** Returns the names of a folder without the companion folders of the slides in it. */
export function withoutCompanionFolders(names: readonly string[]): string[] {
  const folders = new Set(names.map(companionFolderOf));
  return names.filter((name) => !folders.has(name.toLowerCase()));
}

/** Returns the files of a folder whose content must be read to find out which of them are one slide. */
export function filesToInspect(names: readonly string[]): string[] {
  const candidates = names.filter((name) => companionFolderOf(name) === null);
  if (names.some(listsItsCompanions)) return candidates;
  const optional = withOptionalCompanions.filter(({ companions }) =>
    names.some((name) => companions.pattern.test(name)),
  );
  return candidates.filter(
    (name) =>
      mayBeDicom(name) ||
      optional.some(
        ({ extensions, companions }) => hasExtension(name, extensions) || companions.pattern.test(name),
      ),
  );
}

function hasExtension(name: string, extensions: readonly string[]): boolean {
  const lower = name.toLowerCase();
  return extensions.some((extension) => lower.endsWith(extension) && lower.length > extension.length);
}
