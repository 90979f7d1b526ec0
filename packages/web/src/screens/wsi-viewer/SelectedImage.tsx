import { may } from '@lamina/contract';
import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { useAuth } from '../../api/auth-state.ts';
import type { CatalogueImage } from '../../api/images.ts';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

interface SelectedImageProps {
  readonly image: CatalogueImage;
}

/** What the file says of the scan; what it does not say is left out. */
function measuresOf(image: CatalogueImage): readonly (readonly [string, string])[] {
  const { width, height, mpp_x, mpp_y, objective_power, mpp_derived, objective_power_derived } = image;
  const facts: (readonly [string, string])[] = [];
  if (width !== null && height !== null) facts.push([texts.size, texts.pixels(width, height)]);
  if (mpp_x !== null) {
    facts.push([texts.pixelSize, texts.estimatedIf(mpp_derived, texts.micrometres(mpp_x, mpp_y ?? mpp_x))]);
  }
  if (objective_power !== null) {
    facts.push([texts.objective, texts.estimatedIf(objective_power_derived, texts.power(objective_power))]);
  }
  if (image.format !== null) facts.push([texts.format, image.format]);
  return facts;
}

/** What is known of the image that is viewed. */
export function SelectedImage({ image }: SelectedImageProps) {
  const { user } = useAuth();
  const facts = [
    [texts.name, image.file_name],
    [texts.dataset, image.dataset_name],
    [texts.organ, image.organ_type],
    ...measuresOf(image),
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
      {user !== null && may(user, 'users.manage') && (
        <Anchor
          component={Link}
          size="sm"
          to={`/admin/audit?target=${encodeURIComponent(image.id)}&action=image-opened`}
        >
          {texts.whoOpened}
        </Anchor>
      )}
    </section>
  );
}
