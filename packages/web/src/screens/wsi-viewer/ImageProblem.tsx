import type { Image } from '@lamina/contract';
import { SlideError } from '../../components/slide-error/SlideError.tsx';
import { texts } from './texts.ts';

/** Why an image cannot be shown. */
export function ImageProblem({ image }: { readonly image: Image }) {
  const { error, error_code: code, status } = image;
  return error === null ? (
    texts.imageStatus[status]
  ) : (
    <SlideError error={error} code={code} languageWhenMixed="en" />
  );
}
