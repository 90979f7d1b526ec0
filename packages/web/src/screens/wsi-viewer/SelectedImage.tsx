import type { CatalogueImage } from '../../api/images.ts';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

interface SelectedImageProps {
  readonly image: CatalogueImage;
}

/** What is known of the image that is viewed. */
export function SelectedImage({ image }: SelectedImageProps) {
  const facts = [
    [texts.name, image.file_name],
    [texts.dataset, image.dataset_name],
    [texts.organ, image.organ_type],
    ...(image.status === 'ready'
      ? []
      : [[texts.status, image.error ?? texts.imageStatus[image.status]] as const]),
  ] as const;
  return (
    <section className={classes.selected} aria-labelledby="selected-image">
      <h2 id="selected-image">{texts.selectedImage}</h2>
      <dl>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value ?? texts.notAvailable}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
