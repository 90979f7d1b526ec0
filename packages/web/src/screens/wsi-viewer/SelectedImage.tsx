import { type Image, may } from '@lamina/contract';
import { Anchor, Group } from '@mantine/core';
import { Link } from 'react-router';
import { useAuth } from '../../api/auth-state.ts';
import { shownPlaneText } from '../../viewer/shown-plane.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { useSectionOpen } from './catalogue-view-state.ts';
import { ImageProblem } from './ImageProblem.tsx';
import { SaveView } from './SaveView.tsx';
import { ShareSlide } from './ShareSlide.tsx';
import { SidebarSection } from './SidebarSection.tsx';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

interface SelectedImageProps {
  readonly image: Image;
  /** Null before the slide is open. */
  readonly view: SlideView | null;
  /** Whether the colour profile of the slide corrects its colours. */
  readonly isCorrected: boolean;
  /** The shown result layers (computed rasters and objects of the slide), in the format of the URL; null when there are none. */
  readonly results: string | null;
}

/** Returns labels and values of the scan's properties, without those that are unknown. */
function scanPropertiesOf(image: Image): readonly (readonly [label: string, value: string])[] {
  const { width, height, mpp_x, mpp_y, objective_power, mpp_derived, objective_power_derived } = image;
  const properties: (readonly [label: string, value: string])[] = [];
  if (width !== null && height !== null) properties.push([texts.size, texts.pixels(width, height)]);
  if (mpp_x !== null) {
    properties.push([
      texts.pixelSize,
      texts.estimatedIf(mpp_derived, texts.micrometres(mpp_x, mpp_y ?? mpp_x)),
    ]);
  }
  if (objective_power !== null) {
    properties.push([
      texts.objective,
      texts.estimatedIf(objective_power_derived, texts.power(objective_power)),
    ]);
  }
  // `scale_entered`: an administrator entered the scale, which replaces the scale of the file.
  if (image.scale_entered === true) properties.push([texts.scale, texts.scaleEntered]);
  // `shown_plane`: the focal plane and time point that the viewer shows, for files with several of them.
  if (image.shown_plane !== undefined) properties.push([texts.shownPlane, shownPlaneText(image.shown_plane)]);
  if (image.format !== null) properties.push([texts.format, image.format]);
  return properties;
}

/**
 * The sidebar section with the properties of the viewed image (slide), and with buttons to share it and to save the
 * view. Administrators also get a link to the audit log, filtered to show who opened this image.
 */
export function SelectedImage({ image, view, isCorrected, results }: SelectedImageProps) {
  const { user } = useAuth();
  const [isOpen, setOpen] = useSectionOpen('selected-image', true); // open at first
  const properties = [
    [texts.name, image.file_name || null], // '' is shown like an unknown value
    [texts.dataset, image.dataset_name],
    [texts.organ, image.organ_type],
    ...scanPropertiesOf(image),
    ...(image.status === 'ready'
      ? []
      : [[texts.status, <ImageProblem key="status" image={image} />] as const]),
  ] as const;
  return (
    <SidebarSection id="selected-image" title={texts.selectedImage} isOpen={isOpen} onToggle={setOpen}>
      <div className={classes.selected}>
        <dl>
          {properties.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value ?? texts.notAvailable}</dd>
            </div>
          ))}
        </dl>
        {/* `sharing.own` permits both share links and saved views. */}
        {user !== null && may(user, 'sharing.own') && image.status === 'ready' && (
          <Group gap="xs">
            <ShareSlide key={image.id} image={image} />
            {view !== null && (
              <SaveView
                key={`view ${image.id}`}
                image={image}
                view={view}
                isCorrected={isCorrected}
                results={results}
              />
            )}
          </Group>
        )}
        {user !== null && may(user, 'users.manage') && (
          <Anchor
            component={Link}
            size="sm"
            to={`/admin/audit?target=${encodeURIComponent(image.id)}&action=image-opened`}
          >
            {texts.whoOpened}
          </Anchor>
        )}
      </div>
    </SidebarSection>
  );
}
