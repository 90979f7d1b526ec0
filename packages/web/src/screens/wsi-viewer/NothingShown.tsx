import type { Image } from '@lamina/contract';
import { Button } from '@mantine/core';
import type { Half } from '../../viewer/link-views.ts';
import { SlideProgress } from '../../viewer/SlideNotice.tsx';
import { ImageProblem } from './ImageProblem.tsx';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

interface NothingShownProps {
  /** The half of the viewer that shows this message; `second` is the half for the slide to compare with. */
  readonly half: Half;
  /** The selected image, which cannot be viewed; null when none is selected, while it loads, and when `isUnknown` is true. */
  readonly image: Image | null;
  /** Whether the description of the selected image is being loaded from the catalogue. */
  readonly isLoading: boolean;
  /** Whether the URL contains the id of a slide that is not in the user's catalogue. */
  readonly isUnknown: boolean;
  /** Shows the datasets that the user can request; null when there are none. */
  readonly onRequestAccess: (() => void) | null;
}

/**
 * Explains why a half of the viewer shows no slide: the image cannot be viewed, is being loaded, is not in the catalogue, or is not
 * selected yet.
 */
export function NothingShown({ half, image, isLoading, isUnknown, onRequestAccess }: NothingShownProps) {
  if (image !== null) {
    return (
      <div className={classes.nothing}>
        <p>{texts.imageStatus[image.status]}</p>
        {image.error !== null && (
          <p>
            <ImageProblem image={image} />
          </p>
        )}
      </div>
    );
  }
  // While the slide is being opened afterwards, `ViewingOverlay` shows the same texts, so the message does not change.
  if (isLoading) return <SlideProgress title={texts.loadingTiles} detail={texts.opening} />;
  if (isUnknown) {
    return (
      <div className={classes.nothing} role="status">
        <p>{texts.notInCatalogue}</p>
        <p>{texts.notInCatalogueHint}</p>
        {onRequestAccess !== null && (
          <Button variant="default" size="sm" onClick={onRequestAccess}>
            {texts.requestAccessBeside}
          </Button>
        )}
      </div>
    );
  }
  return (
    <div className={classes.nothing}>
      <p>{half === 'second' ? texts.secondWanted : texts.nothingSelected}</p>
      <p>{half === 'second' ? texts.secondWantedHint : texts.nothingSelectedHint}</p>
    </div>
  );
}
