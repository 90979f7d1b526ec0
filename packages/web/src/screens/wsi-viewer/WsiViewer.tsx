import { useCallback, useEffect, useMemo, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { imageSessions, useImageSession } from '../../api/image-sessions.ts';
import {
  type CatalogueImage,
  descriptorAddress,
  fetchPixels,
  thumbnailAddress,
  tileAddress,
  useCatalogue,
} from '../../api/images.ts';
import { languageNow } from '../../language.ts';
import { createDescriptorSupply } from '../../viewer/preload.ts';
import { SlideViewer, type ViewedSlide } from '../../viewer/SlideViewer.tsx';
import { formatField, parseField, type SlideField } from '../../viewer/view-address.ts';
import { ImageCatalog } from './ImageCatalog.tsx';
import { RestrictedDatasets } from './RestrictedDatasets.tsx';
import { SelectedImage } from './SelectedImage.tsx';
import { SessionStats } from './SessionStats.tsx';
import { texts } from './texts.ts';
import { ViewerBar } from './ViewerBar.tsx';
import { ViewingOverlay } from './ViewingOverlay.tsx';
import classes from './WsiViewer.module.css';

/** As in WsiViewer.module.css: below it the catalogue covers the slide instead of standing beside it. */
const narrowWindow = '(max-width: 48em)';

/** Names the selected image in the address, so that it can be linked to and the browser's back button works. */
const imageParameter = 'image';

/** The catalogue of slides beside a zoomable view of one of them. */
export function WsiViewer() {
  const session = useImageSession();
  const catalogue = useCatalogue();
  const [address] = useSearchParams();
  const navigate = useNavigate();
  const [isCatalogOpen, setCatalogOpen] = useState(true);
  const [areStatsOpen, setStatsOpen] = useState(false);

  useEffect(() => imageSessions.enter(), []);

  const { images, error, reload } = catalogue;
  const selectedId = address.get(imageParameter);
  const selected = images.find(({ id }) => id === selectedId) ?? null;
  const select = useCallback(
    (imageId: string) => {
      if (imageId !== selectedId) void navigate(`?${new URLSearchParams({ [imageParameter]: imageId })}`);
      if (window.matchMedia(narrowWindow).matches) setCatalogOpen(false);
    },
    [selectedId, navigate],
  );
  const { id, status, file_name, mpp_x, mpp_y, objective_power, mpp_derived, objective_power_derived } =
    selected ?? notReady;
  // Made anew for another image only: the same one again, from a list loaded again, is not opened again.
  const slide = useMemo(
    () =>
      status === 'ready'
        ? slideOf({ id, file_name, mpp_x, mpp_y, objective_power, mpp_derived, objective_power_derived })
        : null,
    [id, status, file_name, mpp_x, mpp_y, objective_power, mpp_derived, objective_power_derived],
  );

  // The field takes the place of the one before: the back button goes from slide to slide.
  const onField = (field: SlideField) => {
    if (selected === null) return;
    const parameters = new URLSearchParams({ [imageParameter]: selected.id, ...formatField(field) });
    if (`${parameters}` !== `${address}`) void navigate(`?${parameters}`, { replace: true });
  };

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
          onSearch={() => setCatalogOpen(true)}
        />
        <RestrictedDatasets onChanged={reload} />
        {selected !== null && <SelectedImage image={selected} />}
      </aside>
      <div className={classes.main}>
        <ViewerBar
          status={session.status}
          title={selected === null ? null : (selected.file_name ?? selected.id)}
          isCatalogOpen={isCatalogOpen}
          areStatsOpen={areStatsOpen}
          onToggleCatalog={() => setCatalogOpen(!isCatalogOpen)}
          onRefreshSession={refreshSession}
          onToggleStats={() => setStatsOpen(!areStatsOpen)}
        />
        <div className={classes.stage}>
          {slide === null && (
            <div className={classes.nothing}>
              <p>{selected === null ? texts.nothingSelected : texts.imageStatus[selected.status]}</p>
              <p>{selected === null ? texts.nothingSelectedHint : selected.error}</p>
            </div>
          )}
          <SlideViewer
            slide={slide}
            picture={session.id === null || id === '' ? null : thumbnailAddress(id, session.id)}
            fetchPixels={fetchPixels}
            descriptors={descriptors}
            session={session.id}
            fieldAtFirst={parseField(address)}
            onField={onField}
            Overlay={ViewingOverlay}
          />
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

const notReady = {
  id: '',
  status: 'pending',
  file_name: null,
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  mpp_derived: false,
  objective_power_derived: false,
} as const;

function slideOf({
  id,
  file_name,
  mpp_x,
  mpp_y,
  objective_power,
  mpp_derived,
  objective_power_derived,
}: Pick<
  CatalogueImage,
  'id' | 'file_name' | 'mpp_x' | 'mpp_y' | 'objective_power' | 'mpp_derived' | 'objective_power_derived'
>): ViewedSlide {
  const derived = mpp_derived ? 'mpp' : objective_power_derived ? 'objectivePower' : null;
  return {
    descriptorAddress: descriptorAddress(id),
    tileAddressOf: (tile) => tileAddress(id, tile),
    scale: { mpp: mpp_x, mppY: mpp_y, objectivePower: objective_power, derived },
    name: file_name ?? id,
  };
}
