/**
 * Proposes cases (groups of the slides of one specimen) from the file names of slides. For example, the slide `B26-123_A1_HE.svs`
 * belongs to case B26-123 and shows a section of block A1 (a piece of the specimen) with stain HE (haematoxylin and eosin).
 */
import { naturalCompare } from '@lamina/contract';
import { withoutSlideExtension } from '@lamina/slide/names';

/** How the name of a slide's file is divided into the name of the case, the block and the stain. */
export interface NamingRule {
  /** Character between the parts of a file name. */
  readonly separator: '_' | '-' | ' ' | '.';
  /** Number of parts at the beginning that are the name of the case. */
  readonly caseParts: number;
}

export interface ProposedSlide {
  /** Id of the slide; the API calls a slide an image. */
  readonly imageId: string;
  readonly fileName: string;
  /** Null when the file name states no block. */
  readonly block: string | null;
  /** Never null in a proposal; the type allows null because `blockAndStainOf` also accepts the slides of saved cases. */
  readonly stain: string | null;
}

export interface ProposedCase {
  readonly name: string;
  readonly slides: readonly ProposedSlide[];
}

interface NamedSlide {
  readonly id: string;
  readonly file_name: string;
}

/** Returns block and stain as one text, such as "A1 HE"; empty when neither is known. */
export function blockAndStainOf({ block, stain }: Pick<ProposedSlide, 'block' | 'stain'>): string {
  return [block, stain].filter(Boolean).join(' ');
}

/**
 * Returns a case for each case name that at least two file names share, in natural order (2 before 10). Without its extension, a file
 * name consists of the case name, the block (optional, of any number of parts) and the stain (the last part).
 *
 * @param usedSlideIds ids of the slides that are in a case already; these slides are ignored
 */
export function proposeCases(
  namedSlides: readonly NamedSlide[],
  { separator, caseParts }: NamingRule,
  usedSlideIds: ReadonlySet<string>,
): readonly ProposedCase[] {
  const slidesByCase = new Map<string, ProposedSlide[]>();
  for (const { id, file_name: fileName } of namedSlides) {
    if (usedSlideIds.has(id)) continue;
    const parts = withoutSlideExtension(fileName).split(separator).filter(Boolean);
    const name = parts.slice(0, caseParts).join(separator);
    if (name === '' || parts.length <= caseParts) continue; // no part is left for the stain
    const partsAfterCase = parts.slice(caseParts);
    const slides = slidesByCase.get(name) ?? [];
    slides.push({
      imageId: id,
      fileName,
      block: partsAfterCase.slice(0, -1).join(separator) || null,
      stain: partsAfterCase.at(-1) ?? null,
    });
    slidesByCase.set(name, slides);
  }
  return [...slidesByCase]
    .filter(([, slides]) => slides.length >= 2)
    .map(([name, slides]) => ({
      name,
      slides: slides.sort((a, b) => naturalCompare(a.fileName, b.fileName)),
    }))
    .sort((a, b) => naturalCompare(a.name, b.name));
}
