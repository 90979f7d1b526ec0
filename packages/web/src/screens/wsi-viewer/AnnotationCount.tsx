import { VisuallyHidden } from '@mantine/core';
import { IconPolygon } from '@tabler/icons-react';
import { useAnnotationCount } from '../../api/annotated-slides.ts';
import { formatMeasuredValue } from '../../formatting/numbers.ts';
import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

/** The number of annotations of a slide, in its row of the catalogue. Renders nothing while the number is unknown or 0. */
export function AnnotationCount({ imageId }: { readonly imageId: string }) {
  const count = useAnnotationCount(imageId) ?? 0;
  if (count === 0) return null;
  return (
    <span className={classes.rowAnnotations} title={texts.annotations(count)}>
      <IconPolygon size={13} aria-hidden />
      <span aria-hidden>{formatMeasuredValue(count)}</span>
      <VisuallyHidden>{texts.annotations(count)}</VisuallyHidden>
    </span>
  );
}
