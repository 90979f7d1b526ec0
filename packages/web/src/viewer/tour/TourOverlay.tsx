import { texts as sharedTexts } from '../../language/texts.ts';
import { SlideFailure, SlideProgress } from '../SlideNotice.tsx';
import type { ViewingState } from '../SlideViewer.tsx';
import { texts } from './texts.ts';

/** Shows the progress of loading over a slide, or a message when it could not be loaded. */
export function TourOverlay({ loading, failure, retry }: ViewingState) {
  if (failure !== null) {
    return (
      <SlideFailure retryLabel={sharedTexts.retry} retry={retry}>
        {texts.notLoaded}
      </SlideFailure>
    );
  }
  return loading === null ? null : <SlideProgress title={texts.loading} />;
}
