import { useCallback, useEffect, useState } from 'react';
import { imageSessions, useImageSession } from '../../api/image-sessions.ts';
import {
  type CatalogueImage,
  descriptorAddress,
  fetchPixels,
  thumbnailAddress,
  useCatalogue,
} from '../../api/images.ts';
import { languageNow } from '../../language.ts';
import { useWhenIdle } from '../../use-when-idle.ts';
import { createDescriptorSupply } from '../../viewer/preload.ts';
import { SlideViewer } from '../../viewer/SlideViewer.tsx';
import { ImageCatalog } from './ImageCatalog.tsx';
import { RestrictedDatasets } from './RestrictedDatasets.tsx';
import { SelectedImage } from './SelectedImage.tsx';
import { SessionStats } from './SessionStats.tsx';
import { texts } from './texts.ts';
import { useComparison } from './use-comparison.ts';
import { useViewed } from './use-viewed.ts';
import { ViewedHalf } from './ViewedHalf.tsx';
import { ViewerBar } from './ViewerBar.tsx';
import { ViewingOverlay } from './ViewingOverlay.tsx';
import { halves } from './viewed-address.ts';
import classes from './WsiViewer.module.css';

/** As in WsiViewer.module.css: below it the catalogue covers the slide instead of standing beside it. */
const narrowWindow = '(max-width: 48em)';

/** The catalogue of slides beside a zoomable view of one of them, or of two that are compared. */
export function WsiViewer() {
  const session = useImageSession();
  const catalogue = useCatalogue();
  const { viewed, occasion, open, setField } = useViewed();
  const [isCatalogOpen, setCatalogOpen] = useState(true);
  const [areStatsOpen, setStatsOpen] = useState(false);

  useEffect(() => imageSessions.enter(), []);

  const { images, error, reload } = catalogue;
  const comparison = useComparison(viewed, images, occasion);
  const { active, activate } = comparison;
  /** The next slide that is chosen opens beside the first. */
  const [isSecondWanted, setSecondWanted] = useState(false);
  const isChoosing = isSecondWanted && viewed.second === null;
  const isComparing = isChoosing || viewed.second !== null;
  const selected = comparison.halves[active].image;
  const selectedId = viewed[active]?.imageId ?? null;
  /** The slide itself comes first. */
  const described = useWhenIdle(selected);

  const select = useCallback(
    (imageId: string) => {
      if (isChoosing) {
        setSecondWanted(false);
        activate('second');
        open('second', imageId);
      } else if (imageId !== selectedId) open(active, imageId);
      if (window.matchMedia(narrowWindow).matches) setCatalogOpen(false);
    },
    [isChoosing, active, activate, selectedId, open],
  );
  const toggleComparison = () => {
    if (isComparing) {
      setSecondWanted(false);
      activate('first');
      open('second', null);
    } else {
      setSecondWanted(true);
      setCatalogOpen(true);
    }
  };

  const openCatalog = useCallback(() => setCatalogOpen(true), []);
  const refreshSession = () => {
    imageSessions.refresh().then(
      () => {
        if (error !== null) reload();
      },
      () => undefined, // the bar says so
    );
  };

  return (
    // In the specification's mix the interface is Turkish elsewhere; here it is English.
    <div className={classes.screen} lang={languageNow('en')}>
      <aside className={classes.sidebar} hidden={!isCatalogOpen}>
        <ImageCatalog
          catalogue={catalogue}
          selectedId={selected?.id ?? null}
          session={session.id}
          onPress={expect}
          onSelect={select}
          onThumbnailFailed={renewEndedSession}
          onSearch={openCatalog}
        />
        <RestrictedDatasets onChanged={reload} />
        {described !== null && <SelectedImage image={described} />}
      </aside>
      <div className={classes.main}>
        <ViewerBar
          status={session.status}
          title={selected === null || isComparing ? null : (selected.file_name ?? selected.id)}
          comparison={isComparing ? { isLinked: viewed.second === null ? null : comparison.isLinked } : null}
          canCompare={isComparing || selected !== null}
          onToggleComparison={toggleComparison}
          onToggleLink={comparison.toggleLink}
          isCatalogOpen={isCatalogOpen}
          areStatsOpen={areStatsOpen}
          onToggleCatalog={() => setCatalogOpen(!isCatalogOpen)}
          onRefreshSession={refreshSession}
          onToggleStats={() => setStatsOpen(!areStatsOpen)}
        />
        <div className={classes.stage}>
          {halves.map((half) => {
            if (half === 'second' && !isComparing) return null;
            const { image, slide, onView, fieldAtFirst } = comparison.halves[half];
            return (
              <ViewedHalf
                key={half}
                name={image === null ? null : (image.file_name ?? image.id)}
                isCompared={isComparing}
                isActive={half === active}
                onActivate={() => activate(half)}
              >
                {slide === null && (
                  <div className={classes.nothing}>
                    {image !== null ? (
                      <>
                        <p>{texts.imageStatus[image.status]}</p>
                        <p>{image.error}</p>
                      </>
                    ) : (
                      <>
                        <p>{half === 'second' ? texts.secondWanted : texts.nothingSelected}</p>
                        <p>{half === 'second' ? texts.secondWantedHint : texts.nothingSelectedHint}</p>
                      </>
                    )}
                  </div>
                )}
                <SlideViewer
                  slide={slide}
                  picture={
                    session.id === null || image === null ? null : thumbnailAddress(image.id, session.id)
                  }
                  fetchPixels={fetchPixels}
                  descriptors={descriptors}
                  session={session.id}
                  fieldAtFirst={fieldAtFirst}
                  onField={(field) => setField(half, field)}
                  onView={onView}
                  hasKeys={half === active}
                  Overlay={ViewingOverlay}
                />
              </ViewedHalf>
            );
          })}
          {areStatsOpen && <SessionStats session={session} />}
        </div>
      </div>
    </div>
  );
}

const descriptors = createDescriptorSupply(fetchPixels);

/** A slide is about to be chosen. */
function expect({ id, status }: CatalogueImage): void {
  if (status === 'ready') descriptors.expect(descriptorAddress(id));
}

/** An `<img>` does not tell why it failed. If the session has ended, a new one lets it try again. */
function renewEndedSession(): void {
  imageSessions.get().catch(() => undefined); // the bar says so
}
