import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { Button, CloseButton, Portal, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { removeResultLayer, useOverlayDescriptor } from '../../api/results.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { languageNow } from '../../language/language.ts';
import type { AnnotationStore } from '../annotations/annotation-store.ts';
import type { SlideView } from '../slide-view.ts';
import { AddResultDialog } from './AddResultDialog.tsx';
import { LayerCanvas } from './LayerCanvas.tsx';
import { LayerItem, type LayerSettings } from './LayerItem.tsx';
import classes from './Results.module.css';
import { rasterStyleAtFirst } from './raster-style.ts';
import { texts } from './texts.ts';
import { type Areas, useAreas } from './use-areas.ts';
import { useCounts } from './use-counts.ts';
import { useReadout } from './use-readout.ts';

export interface ResultsProps {
  readonly view: SlideView;
  readonly imageId: string;
  readonly layers: readonly ResultLayer[];
  /** Whether the person may add results. */
  readonly mayAdd: boolean;
  /** Null: the annotations of the slide are not open. */
  readonly annotations: AnnotationStore | null;
  /** Whether the drawing tools are shown, which take more room than the others. */
  readonly isDrawing: boolean;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

type Descriptor = RasterDescriptor | VectorDescriptor;

/** The result layers of a slide, and the panel that shows, hides and styles them. */
export function Results({
  view,
  imageId,
  layers,
  mayAdd,
  annotations,
  isOpen,
  onClose,
  ...props
}: ResultsProps) {
  const [settings, setSettings] = useState<ReadonlyMap<string, LayerSettings>>(new Map());
  const [removed, setRemoved] = useState<ResultLayer | null>(null);
  const [isAdding, setAdding] = useState(false);
  const areas = useAreas(isOpen ? annotations : null);
  const firstReady = layers.find(({ state }) => state === 'ready')?.id;
  const shown = layers.filter(({ id, state }) => state === 'ready' && isVisible(id));
  const top = useOverlayDescriptor(shown.at(-1)?.id ?? '', shown.length > 0).data ?? null;
  const readout = useReadout(view, isOpen && shown.length > 0 ? top : null);

  /** Until the person chooses, the first layer is shown. */
  function isVisible(id: string): boolean {
    return settings.get(id)?.isVisible ?? id === firstReady;
  }
  const change = (id: string, next: LayerSettings) => setSettings(new Map(settings).set(id, next));

  async function remove(layer: ResultLayer) {
    try {
      await removeResultLayer(layer);
      toast.success(texts.removed(layer.name));
    } catch (error) {
      toast.error(messageOf(error, texts.removeFailed));
    }
    setRemoved(null);
  }

  return (
    <>
      <div className={classes.canvases} aria-hidden="true">
        {shown.map(({ id }) => (
          <ShownLayer key={id} view={view} id={id} chosen={settings.get(id) ?? null} />
        ))}
      </div>
      {isOpen && (
        <section
          className={classes.panel}
          data-drawing={props.isDrawing || undefined}
          aria-label={texts.results}
          lang={languageNow('en')}
        >
          <div className={classes.head}>
            {texts.results}
            <CloseButton size="sm" aria-label={texts.close} onClick={onClose} />
          </div>
          {layers.length === 0 && (
            <Text size="sm" c="dimmed">
              {texts.empty}
            </Text>
          )}
          <ul className={classes.layers}>
            {layers.map((layer) => (
              <ListedLayer
                key={layer.id}
                view={view}
                areas={areas}
                layer={layer}
                chosen={settings.get(layer.id) ?? null}
                isVisible={isVisible(layer.id)}
                onChange={(next) => change(layer.id, next)}
                onRemove={() => setRemoved(layer)}
              />
            ))}
          </ul>
          {mayAdd && (
            <Button
              size="xs"
              variant="light"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => setAdding(true)}
            >
              {texts.add}
            </Button>
          )}
          {shown.length > 0 && <output className={classes.readout}>{readout ?? texts.hover}</output>}
        </section>
      )}
      {/* In front of the whole page, not of the slide alone; in `main`, since a header outside it would be a second banner. */}
      <Portal target="main">
        {isAdding && (
          <AddResultDialog
            imageId={imageId}
            onClose={() => setAdding(false)}
            onAdded={(name) => {
              setAdding(false);
              toast.success(texts.added(name));
            }}
          />
        )}
        {removed !== null && (
          <ConfirmDialog
            title={texts.removeTitle}
            confirmLabel={texts.removeConfirm}
            isGrave
            onConfirm={() => remove(removed)}
            onClose={() => setRemoved(null)}
          >
            {texts.removeHint(removed.name)}
          </ConfirmDialog>
        )}
      </Portal>
    </>
  );
}

interface ShownLayerProps {
  readonly view: SlideView;
  readonly id: string;
  /** Null: the person has changed nothing. */
  readonly chosen: LayerSettings | null;
}

function ShownLayer({ view, id, chosen }: ShownLayerProps) {
  const { data } = useOverlayDescriptor(id, true);
  const { opacity, style } = useSettings(data ?? null, chosen);
  if (data === undefined) return null;
  return <LayerCanvas view={view} descriptor={data} style={style} opacity={opacity} />;
}

interface ListedLayerProps extends Omit<ShownLayerProps, 'id'> {
  readonly layer: ResultLayer;
  readonly areas: Areas;
  readonly isVisible: boolean;
  readonly onChange: (settings: LayerSettings) => void;
  readonly onRemove: () => void;
}

function ListedLayer({ view, layer, areas, chosen, isVisible, onChange, onRemove }: ListedLayerProps) {
  const isReady = layer.state === 'ready';
  const descriptor = useOverlayDescriptor(layer.id, isReady);
  const data = isReady ? (descriptor.data ?? null) : null;
  const settings = { ...useSettings(data, chosen), isVisible };
  const counts = useCounts(view, {
    descriptor: data?.kind === 'vector' && isVisible ? data : null,
    area: areas.chosen?.geometry ?? null,
    ...settings.style,
  });
  return (
    <LayerItem
      layer={layer}
      descriptor={data}
      hasFailed={descriptor.isError}
      settings={settings}
      counts={counts}
      areas={areas}
      onChange={onChange}
      onRemove={onRemove}
    />
  );
}

/** Returns what the person chose, or what a layer has at first: always the same object, so that it is coloured once. */
function useSettings(descriptor: Descriptor | null, chosen: LayerSettings | null): LayerSettings {
  const atFirst = useMemo(() => settingsAtFirst(descriptor), [descriptor]);
  return chosen ?? atFirst;
}

function settingsAtFirst(descriptor: Descriptor | null): LayerSettings {
  if (descriptor?.kind === 'raster') {
    const style = { ...rasterStyleAtFirst(descriptor), column: null, isColoured: false };
    return { isVisible: true, opacity: 0.6, style };
  }
  const style = { palette: 'viridis', from: 0, to: 1, hidden: new Set<number>() } as const;
  return { isVisible: true, opacity: 1, style: { ...style, column: null, isColoured: false } };
}
