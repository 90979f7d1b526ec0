/** Cases proposed from the names of slides, such as `B26-123_A1_HE.svs`: case, block and stain. */
import { naturalCompare } from '@lamina/contract';

/** How the name of a slide is read. */
export interface NamingRule {
  /** Between the parts of a name. */
  readonly separator: '_' | '-' | ' ' | '.';
  /** How many parts at the beginning are the name of the case. */
  readonly caseParts: number;
}

export interface ProposedSlide {
  readonly imageId: string;
  readonly fileName: string;
  readonly block: string | null;
  readonly stain: string | null;
}

export interface ProposedCase {
  readonly name: string;
  readonly slides: readonly ProposedSlide[];
}

interface NamedImage {
  readonly id: string;
  readonly file_name: string;
}

const shortestExtension = /\.(ome\.tiff?|[a-z]{2,5})$/i;

/**
 * Returns a case for each name that at least two slides share, in natural order. The last part of a name after the case is the
 * stain, what is between them the block.
 *
 * @param taken ids of slides that are in a case already
 */
export function proposeCases(
  images: readonly NamedImage[],
  { separator, caseParts }: NamingRule,
  taken: ReadonlySet<string>,
): readonly ProposedCase[] {
  const groups = new Map<string, ProposedSlide[]>();
  for (const { id, file_name: fileName } of images) {
    if (taken.has(id)) continue;
    const parts = fileName.replace(shortestExtension, '').split(separator).filter(Boolean);
    const name = parts.slice(0, caseParts).join(separator);
    if (name === '' || parts.length <= caseParts) continue;
    const rest = parts.slice(caseParts);
    const slides = groups.get(name) ?? [];
    slides.push({
      imageId: id,
      fileName,
      block: rest.slice(0, -1).join(separator) || null,
      stain: rest.at(-1) ?? null,
    });
    groups.set(name, slides);
  }
  return [...groups]
    .filter(([, slides]) => slides.length >= 2)
    .map(([name, slides]) => ({
      name,
      slides: slides.sort((a, b) => naturalCompare(a.fileName, b.fileName)),
    }))
    .sort((a, b) => naturalCompare(a.name, b.name));
}
