import type { FieldOfView } from '@lamina/contract';
import { useEffect } from 'react';
import { useImage } from '../../api/catalogue.ts';
import { imageSessions, useImageSession } from '../../api/image-sessions.ts';
import { fetchPixels, thumbnailUrl } from '../../api/images.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { lazyPart } from '../../components/lazy-part.tsx';
import { createDescriptorSupply } from '../preload.ts';
import type { SlideView } from '../slide-view.ts';
import { useViewedSlide } from '../use-viewed-slide.ts';
import { slideFieldOf } from './steps.ts';
import { TourOverlay } from './TourOverlay.tsx';
import { texts } from './texts.ts';

/** Loaded when it is first shown. A failure is shown only in place of the viewer: the screen around it may have unsaved changes. */
const SlideViewer = lazyPart(
  async () => (await import('../SlideViewer.tsx')).SlideViewer,
  ({ onRetry }) => <LoadFailed message={texts.notLoaded} onRetry={onRetry} />,
);

/** Loads the Deep Zoom descriptors of slides (their size and tile grid). */
const descriptors = createDescriptorSupply(fetchPixels);

interface AccountSlideProps {
  readonly imageId: string;
  /** The field of view to show first; null shows the whole slide. */
  readonly field: FieldOfView | null;
  /** Called with the view when the slide is shown, and with null when it is closed. Must be a stable function. */
  readonly onView: (view: SlideView | null) => void;
}

/** Shows a slide to a signed-in user on screens other than the slide viewer, such as the editor of a collection. */
export function AccountSlide({ imageId, field, onView }: AccountSlideProps) {
  // Closing the last viewer revokes the image sessions (the credentials for loading pixels).
  useEffect(() => imageSessions.registerViewer(), []);
  const session = useImageSession();
  const { image } = useImage(imageId);
  const slide = useViewedSlide(image);
  return (
    <SlideViewer
      slide={slide}
      thumbnailUrl={session.id === null ? null : thumbnailUrl(imageId, session.id)}
      fetchPixels={fetchPixels}
      descriptors={descriptors}
      session={session.id}
      initialField={() => (field === null ? null : slideFieldOf(field))}
      onField={doNothing}
      onView={onView}
      onIncomplete={doNothing}
      isCorrected // by the colour profile in the slide's file
      onCorrect={doNothing}
      keptColours={null} // the slide opens without a colour adjustment
      onKeepColours={doNothing}
      handlesKeys={false} // the keyboard belongs to the screen around the slide
      Overlay={TourOverlay}
    />
  );
}

const doNothing = () => undefined;
