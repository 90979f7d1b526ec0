import type { Image } from '@lamina/contract';
import { VisuallyHidden } from '@mantine/core';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { reloadCatalogue } from '../../api/catalogue.ts';
import { useRequestableDatasets } from '../../api/datasets.ts';
import { type ImageSessionState, imageSessions, useImageSession } from '../../api/image-sessions.ts';
import { descriptorUrl, fetchPixels, thumbnailUrl } from '../../api/images.ts';
import { useOnline } from '../../browser/use-online.ts';
import { useWhenIdle } from '../../browser/use-when-idle.ts';
import { lazyPart } from '../../components/lazy-part.tsx';
import { preloadable } from '../../components/preloadable.tsx';
import { chosenLanguageOr } from '../../language/language.ts';
import { titles } from '../../language/texts.ts';
import type { ColourAdjustment } from '../../viewer/colours/adjustment.ts';
import type { Incompleteness } from '../../viewer/PictureNotes.tsx';
import { createDescriptorSupply } from '../../viewer/preload.ts';
import { ArrangementMemoryContext } from '../../viewer/results/arrangement-memory.ts';
import { useSectionOpen } from './catalogue-view-state.ts';
import { ImageCatalog } from './ImageCatalog.tsx';
import { NothingShown } from './NothingShown.tsx';
import { PartNotShown } from './PartNotShown.tsx';
import { RestrictedDatasets, restrictedDatasetsId } from './RestrictedDatasets.tsx';
import { SessionStats } from './SessionStats.tsx';
import { texts } from './texts.ts';
import { useComparison } from './use-comparison.ts';
import { useIncompleteHalves } from './use-incomplete-halves.ts';
import { useViewed } from './use-viewed.ts';
import { ViewedHalf } from './ViewedHalf.tsx';
import type { ShownStatus } from './ViewerBar.tsx';
import { ViewingOverlay } from './ViewingOverlay.tsx';
import { halves } from './viewed-address.ts';
import classes from './WsiViewer.module.css';

/** Media query of narrow windows, in which the catalogue covers the slide. WsiViewer.module.css contains the same query. */
const narrowWindow = '(max-width: 48em)';

/** Loaded after the catalogue or when a slide is opened, so that the rows of the catalogue appear seconds earlier on a slow network. */
const SlideViewer = lazy(async () => ({
  default: (await import('../../viewer/SlideViewer.tsx')).SlideViewer,
}));

/** Loaded separately, so that the first rows of the catalogue do not wait for the code of the bar's tooltips. */
const ViewerBar = preloadable(async () => (await import('./ViewerBar.tsx')).ViewerBar);
ViewerBar.preload().catch(() => undefined); // rendering the component loads the code again and shows the error

/** These components appear once a slide is selected. Their code is loaded right after the catalogue, so a click need not wait for it. */
const SelectedImage = lazyPart(
  async () => (await import('./SelectedImage.tsx')).SelectedImage,
  ({ onRetry }) => <PartNotShown message={texts.propertiesFailed} onRetry={onRetry} />,
);
const CaseStrip = lazyPart(
  async () => (await import('./CaseStrip.tsx')).CaseStrip,
  ({ onRetry }) => <PartNotShown message={texts.caseFailed} onRetry={onRetry} />,
);

/** The slide viewer screen: the catalogue of slides beside a zoomable view of one slide, or of two slides that are compared. */
export function WsiViewer() {
  const session = useImageSession();
  const isOnline = useOnline();
  // `viewed`: the slides in the URL. `historyStep` changes when the user goes back or forward. `arrangements`: which result layers
  // (computed rasters and objects) each half shows. `colours`: whether the colour profile of a slide corrects its colours.
  const { viewed, historyStep, open, setField, arrangements, colours, setColours } = useViewed();
  const setCorrected = useCallback(
    (isCorrected: boolean) => setColours(isCorrected ? 'corrected' : 'scanned'),
    [setColours],
  );
  // On a phone, where the catalogue covers the slide, a link to a slide opens the slide without the catalogue.
  const [isCatalogOpen, setCatalogOpen] = useState(
    () => viewed.first === null || !window.matchMedia(narrowWindow).matches,
  );
  const [areStatsOpen, setStatsOpen] = useState(false);

  useEffect(() => imageSessions.registerViewer(), []); // keeps the image session until the viewer is closed
  const [isCatalogReady, setCatalogReady] = useState(false);
  const onCatalogReady = useCallback(() => setCatalogReady(true), []);
  useEffect(() => {
    if (!isCatalogReady) return;
    // Ignores failures: rendering the component loads its code again and shows the failure.
    for (const part of [SelectedImage, CaseStrip]) part.preload().catch(() => undefined);
  }, [isCatalogReady]);

  const comparison = useComparison(viewed, historyStep);
  const { activeHalf, activate } = comparison;
  /** Whether the user has pressed Compare: the next selected slide opens in the second half. */
  const [isComparisonRequested, setComparisonRequested] = useState(false);
  const isSelectingSecond = isComparisonRequested && viewed.second === null;
  /** Whether the viewer has two halves. */
  const isComparing = isSelectingSecond || viewed.second !== null;
  const selectedImage = comparison.halves[activeHalf].image;
  const selectedId = viewed[activeHalf]?.imageId ?? null;
  /** The image whose properties and case are shown. Updated when the browser is idle, because the slide itself loads first. */
  const describedImage = useWhenIdle(selectedImage);

  const select = useCallback(
    (imageId: string) => {
      if (isSelectingSecond) {
        setComparisonRequested(false);
        activate('second');
        open('second', imageId);
      } else if (imageId !== selectedId) open(activeHalf, imageId);
      if (window.matchMedia(narrowWindow).matches) setCatalogOpen(false);
    },
    [isSelectingSecond, activeHalf, activate, selectedId, open],
  );
  const toggleComparison = () => {
    if (isComparing) {
      setComparisonRequested(false);
      activate('first');
      open('second', null);
    } else {
      setComparisonRequested(true);
      setCatalogOpen(true);
    }
  };

  /** `incomplete`: why each half is not sharp; null while it is sharp. */
  const { incomplete, onIncomplete } = useIncompleteHalves();
  /** Colour adjustment that the user keeps for all slides; null when each slide opens unadjusted. */
  const [keptColours, setKeptColours] = useState<ColourAdjustment | null>(null);

  const [isRestrictedOpen, setRestrictedOpen] = useSectionOpen('restricted-datasets', false); // closed at first
  /** Whether there are restricted datasets to which the user can request access. */
  const hasRequestable = useRequestableDatasets().data?.some(({ granted }) => !granted) ?? false;
  const showRequestableDatasets = () => {
    // `flushSync` renders the request buttons immediately, so that the first one can be focused.
    flushSync(() => {
      setCatalogOpen(true);
      setRestrictedOpen(true);
    });
    document.querySelector<HTMLElement>(`#${restrictedDatasetsId} li button`)?.focus();
  };

  const comparedSlides = comparedSlidesOf(comparison);

  const openCatalog = useCallback(() => setCatalogOpen(true), []);
  const refreshSession = () => {
    imageSessions.refresh().then(
      reloadCatalogue,
      () => undefined, // the bar above the slide shows the failure
    );
  };

  return (
    // Until the user chooses a language, this screen is English, and the page around it is Turkish.
    <div className={classes.screen} lang={chosenLanguageOr('en')}>
      <aside className={classes.sidebar} hidden={!isCatalogOpen}>
        <ImageCatalog
          selectedId={selectedId}
          session={session.id}
          onPress={preloadDescriptor}
          onSelect={select}
          onThumbnailFailed={renewEndedSession}
          onSearch={openCatalog}
          onReady={onCatalogReady}
        />
        <RestrictedDatasets
          onAccessChanged={reloadCatalogue}
          isOpen={isRestrictedOpen}
          onToggle={setRestrictedOpen}
        />
        {describedImage !== null && (
          <SelectedImage
            image={describedImage}
            view={comparison.halves[activeHalf].view}
            isCorrected={colours === 'corrected'}
            results={viewed[activeHalf]?.results ?? null}
          />
        )}
      </aside>
      <div className={classes.main}>
        {/* The page needs one h1. While the catalogue is open, its title is the h1. */}
        {!isCatalogOpen && <VisuallyHidden component="h1">{titles.wsiViewer}</VisuallyHidden>}
        <Suspense fallback={<div className={classes.bar} />}>
          <ViewerBar
            status={statusToShow(session.status, isOnline, Object.values(incomplete))}
            title={selectedImage === null || isComparing ? null : selectedImage.file_name || selectedImage.id}
            comparison={
              isComparing ? { isLinked: viewed.second === null ? null : comparison.isLinked } : null
            }
            canCompare={isComparing || selectedImage !== null}
            onToggleComparison={toggleComparison}
            onToggleLink={comparison.toggleLink}
            isCatalogOpen={isCatalogOpen}
            areStatsOpen={areStatsOpen}
            onToggleCatalog={() => setCatalogOpen(!isCatalogOpen)}
            onRefreshSession={refreshSession}
            onToggleStats={() => setStatsOpen(!areStatsOpen)}
          />
        </Suspense>
        <div className={classes.stage}>
          {halves.map((half) => {
            if (half === 'second' && !isComparing) return null;
            const { image, isLoading, isUnknown, slide, onView, initialField, isInitialFieldEstimated } =
              comparison.halves[half];
            return (
              <ViewedHalf
                key={half}
                name={image === null ? null : image.file_name || image.id}
                isCompared={isComparing}
                isActive={half === activeHalf}
                onActivate={() => activate(half)}
              >
                {slide === null && (
                  <NothingShown
                    half={half}
                    image={image}
                    isLoading={isLoading}
                    isUnknown={isUnknown}
                    onRequestAccess={hasRequestable ? showRequestableDatasets : null}
                  />
                )}
                {/* Without a slide, the viewer is prepared in advance, but only after the catalogue has loaded. */}
                {(slide !== null || isCatalogReady) && (
                  <ArrangementMemoryContext value={arrangements[half]}>
                    <Suspense fallback={null}>
                      <SlideViewer
                        slide={slide}
                        thumbnailUrl={
                          session.id === null || image === null ? null : thumbnailUrl(image.id, session.id)
                        }
                        fetchPixels={fetchPixels}
                        descriptors={descriptors}
                        session={session.id}
                        initialField={initialField}
                        avoidsGlass={isInitialFieldEstimated} // an estimated field may show only glass, without tissue
                        onField={(field) => {
                          if (image !== null) setField(half, image.id, field);
                        }}
                        onView={onView}
                        onIncomplete={onIncomplete[half]}
                        keptColours={keptColours}
                        onKeepColours={setKeptColours}
                        isCorrected={colours === 'corrected'}
                        onCorrect={setCorrected}
                        handlesKeys={half === activeHalf}
                        Overlay={ViewingOverlay}
                      />
                    </Suspense>
                  </ArrangementMemoryContext>
                )}
              </ViewedHalf>
            );
          })}
          {areStatsOpen && <SessionStats session={session} />}
        </div>
        {describedImage !== null && (
          <CaseStrip
            image={describedImage}
            session={session.id}
            onSelect={select}
            onThumbnailFailed={renewEndedSession}
            comparedSlides={comparedSlides}
            onRegisteringChange={(isRegistering) => {
              // Unlinks the slides while the user places points; links them afterwards, even if they were not before.
              if (isRegistering === comparison.isLinked) comparison.toggleLink();
            }}
          />
        )}
      </div>
    </div>
  );
}

/** Returns the ids and views of the two compared slides; null unless both are open. */
function comparedSlidesOf({ halves: { first, second } }: ReturnType<typeof useComparison>) {
  if (first.image === null || second.image === null || first.view === null || second.view === null)
    return null;
  return {
    imageIds: { first: first.image.id, second: second.image.id },
    views: { first: first.view, second: second.view },
  };
}

/**
 * Returns the status for the bar. An active session counts as an error while the browser is offline or the server is unreachable, and as
 * doubtful while tiles fail to load.
 */
function statusToShow(
  status: ImageSessionState['status'],
  isOnline: boolean,
  incomplete: readonly (Incompleteness | null)[],
): ShownStatus {
  if (status !== 'active') return status;
  if (!isOnline || incomplete.includes('unreachable')) return 'error';
  return incomplete.includes('failed') ? 'doubtful' : status;
}

/** Loads the descriptors (size and tile grid) of slides. */
const descriptors = createDescriptorSupply(fetchPixels);

/** Loads the descriptor of a slide that is about to be selected. */
function preloadDescriptor({ id, status }: Image): void {
  if (status === 'ready') descriptors.preload(descriptorUrl(id));
}

/** Called when a thumbnail fails to load. If the image session has ended, creates a new one, with which the thumbnail is loaded again. */
function renewEndedSession(): void {
  imageSessions.get().catch(() => undefined); // the bar above the slide shows the failure
}
