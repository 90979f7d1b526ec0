import type { Image } from '@lamina/contract';
import { SlideError } from '../../components/slide-error/SlideError.tsx';
import { texts } from './texts.ts';

/** Says why the viewer cannot show an image: the error of its file, or its status when there is no error. */
export function ImageProblem({ image }: { readonly image: Image }) {
  const { error, error_code, status } = image;
  return error === null ? (
    texts.imageStatus[status]
  ) : (
    <SlideError error={error} code={error_code} languageBeforeChoice="en" />
  );
}
