import type { Collection, CollectionItem } from '@lamina/contract';
import { Button } from '@mantine/core';
import { useEffect, useMemo } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import { useImage } from '../../api/catalogue.ts';
import { messageOf } from '../../api/client.ts';
import { useCollection } from '../../api/collections.ts';
import { imageSessions, useImageSession } from '../../api/image-sessions.ts';
import { fetchPixels, thumbnailUrl } from '../../api/images.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { createDescriptorSupply } from '../../viewer/preload.ts';
import type { TourStep } from '../../viewer/tour/steps.ts';
import { Tour } from '../../viewer/tour/Tour.tsx';
import { useViewedSlide } from '../../viewer/use-viewed-slide.ts';
import { texts } from './texts.ts';

/** Loads and preloads the Deep Zoom descriptors of slides (their size and tile grid). */
const descriptors = createDescriptorSupply(fetchPixels);

/** The screen that shows a collection as a tour, one slide at a time. The URL holds the number of the current step, from 1. */
export function CollectionTour() {
  const { collectionId = '' } = useParams();
  const collection = useCollection(collectionId);
  if (collection.isPending) return <Loading label={texts.loading} />;
  if (collection.isLoadingError) {
    return (
      <LoadFailed
        message={messageOf(collection.error, texts.loadFailed)}
        onRetry={() => void collection.refetch()}
      />
    );
  }
  return <OpenCollection key={collectionId} collection={collection.data} />;
}

function OpenCollection({ collection }: { readonly collection: Collection }) {
  const [query, setQuery] = useSearchParams();
  useEffect(() => imageSessions.registerViewer(), []); // keeps the image session (the credential for tiles) while this screen is open
  const session = useImageSession();
  const steps = useMemo(() => collection.items.flatMap(stepsOf), [collection.items]);
  const requestedIndex = Number(query.get('step') ?? 1) - 1;
  // When the step in the URL is not a number or does not exist, the first step opens.
  const stepIndex = steps[requestedIndex] === undefined ? 0 : requestedIndex;
  const imageId = steps[stepIndex]?.imageId ?? null;
  const { image } = useImage(imageId);
  const slide = useViewedSlide(image);
  const pixels = useMemo(() => ({ fetchPixels, descriptors, session: session.id }), [session.id]);
  return (
    <Tour
      title={collection.title}
      steps={steps}
      stepIndex={stepIndex}
      onStepChange={(nextIndex) => setQuery({ step: String(nextIndex + 1) }, { replace: true })}
      slide={slide}
      thumbnailUrl={session.id === null || imageId === null ? null : thumbnailUrl(imageId, session.id)}
      pixels={pixels}
      isMovable // only share links can forbid users to move and zoom the slide
      collectionId={collection.id}
      isVisitor={false}
      showsAnnotations={false} // only tours of share links can show annotations
      canPresent={collection.own}
      actions={
        <Button component={Link} to="/collections" size="xs" variant="subtle">
          {texts.allCollections}
        </Button>
      }
    />
  );
}

/**
 * Returns one step for each slide of an item (a slide, a saved view or a case). Of the steps of a case, only the first has the
 * question. `field` and `colours` are those of a saved view: the visible part of the slide and its adjusted colours.
 */
function stepsOf(
  { images, title, text, question, field, colours }: CollectionItem,
  itemIndex: number,
): readonly TourStep[] {
  const step = { item: itemIndex, text, question, field, colours, title: title ?? texts.noAccess };
  // An item has no images when the account may not view it. The step of such an item shows no slide.
  if (images.length === 0) return [{ ...step, imageId: null, question: null }];
  return images.map((imageId, index) => ({
    ...step,
    imageId,
    title: images.length === 1 ? step.title : `${step.title} · ${index + 1}`,
    question: index === 0 ? question : null,
  }));
}
