import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { Button, CloseButton, Portal, Switch, Text, VisuallyHidden } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useCallback, useMemo, useState } from 'react';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { removeResultLayer, useOverlayDescriptor } from '../../api/results.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { languageNow } from '../../language/language.ts';
import type { AnnotationStore } from '../annotations/annotation-store.ts';
import type { SlideView } from '../slide-view.ts';
import { AddResultDialog } from './AddResultDialog.tsx';
import { LayerCanvas } from './LayerCanvas.tsx';
import { LayerItem } from './LayerItem.tsx';
import {
  choiceOf,
  keyOf,
  type LayerChoice,
  type LayerSettings,
  moved,
  orderLayers,
  settingsOf,
} from './layer-choices.ts';
import classes from './Results.module.css';
import { SwipeDivider } from './SwipeDivider.tsx';
import { clipOf } from './swipe.ts';
import { texts } from './texts.ts';
import { type Areas, useAreas } from './use-areas.ts';
import { useArrangement } from './use-arrangement.ts';
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
  const [arrangement, arrange] = useArrangement(imageId, layers);
  const [removed, setRemoved] = useState<ResultLayer | null>(null);
  const [isAdding, setAdding] = useState(false);
  /** For screen readers: where a layer has been moved to. */
  const [news, setNews] = useState('');
  const areas = useAreas(isOpen ? annotations : null);
  const ordered = orderLayers(layers, arrangement);
  const choices = new Map(arrangement.layers.map((choice) => [choice.layer, choice]));
  const choiceFor = ({ id }: ResultLayer) => choices.get(keyOf(id)) ?? { ...hidden, layer: keyOf(id) };
  /** The upper layer first. */
  const shown = ordered.filter((layer) => layer.state === 'ready' && choiceFor(layer).isVisible);
  const [left, right] = shown;
  const swipe = left === undefined || right === undefined ? null : arrangement.swipe;
  const upper = useOverlayDescriptor(left?.id ?? '', left !== undefined).data ?? null;
  const beside = useOverlayDescriptor(right?.id ?? '', swipe !== null).data ?? null;
  const descriptorAt = useCallback(
    (share: number) => (swipe !== null && share > swipe ? beside : upper),
    [swipe, beside, upper],
  );
  const readout = useReadout(view, isOpen && left !== undefined ? descriptorAt : null);

  const change = (next: LayerChoice) =>
    arrange({
      ...arrangement,
      layers: arrangement.layers.map((each) => (each.layer === next.layer ? next : each)),
    });
  const move = (layer: ResultLayer, places: number) => {
    const next = moved(arrangement, keyOf(layer.id), places);
    arrange(next);
    setNews(texts.movedTo(layer.name, next.layers.findIndex((each) => each.layer === keyOf(layer.id)) + 1));
  };
  const setSwipe = (place: number | null) => arrange({ ...arrangement, swipe: place });

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
        {shown.toReversed().map((layer) => (
          <ShownLayer
            key={layer.id}
            view={view}
            id={layer.id}
            choice={choiceFor(layer)}
            clip={clipAt(layer === left ? 'left' : layer === right ? 'right' : null, swipe)}
          />
        ))}
      </div>
      {swipe !== null && left !== undefined && right !== undefined && (
        <SwipeDivider place={swipe} left={left.name} right={right.name} onPlace={setSwipe} />
      )}
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
          {left !== undefined && right !== undefined && (
            <Switch
              size="xs"
              label={texts.compare}
              description={swipe === null ? null : texts.compared(left.name, right.name)}
              checked={swipe !== null}
              onChange={({ currentTarget }) => setSwipe(currentTarget.checked ? 0.5 : null)}
            />
          )}
          <ul className={classes.layers}>
            {ordered.map((layer, place) => (
              <ListedLayer
                key={layer.id}
                view={view}
                areas={areas}
                layer={layer}
                choice={choiceFor(layer)}
                place={place}
                count={ordered.length}
                onChange={change}
                onMove={(places) => move(layer, places)}
                onRemove={() => setRemoved(layer)}
              />
            ))}
          </ul>
          <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
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
          {left !== undefined && <output className={classes.readout}>{readout ?? texts.hover}</output>}
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

const hidden = { isVisible: false, style: {} } as const;

function clipAt(side: 'left' | 'right' | null, swipe: number | null): string | undefined {
  return side === null || swipe === null ? undefined : clipOf(side, swipe);
}

interface ShownLayerProps {
  readonly view: SlideView;
  readonly id: string;
  readonly choice: LayerChoice;
  /** Undefined: the whole layer is shown. */
  readonly clip: string | undefined;
}

function ShownLayer({ view, id, choice, clip }: ShownLayerProps) {
  const { data } = useOverlayDescriptor(id, true);
  const { opacity, style } = useSettings(data ?? null, choice);
  if (data === undefined) return null;
  return <LayerCanvas view={view} descriptor={data} style={style} opacity={opacity} clip={clip} />;
}

interface ListedLayerProps {
  readonly view: SlideView;
  readonly layer: ResultLayer;
  readonly areas: Areas;
  readonly choice: LayerChoice;
  /** In the list, from 0. */
  readonly place: number;
  readonly count: number;
  readonly onChange: (choice: LayerChoice) => void;
  readonly onMove: (places: number) => void;
  readonly onRemove: () => void;
}

function ListedLayer({ view, layer, areas, choice, onChange, ...props }: ListedLayerProps) {
  const isReady = layer.state === 'ready';
  const descriptor = useOverlayDescriptor(layer.id, isReady);
  const data = isReady ? (descriptor.data ?? null) : null;
  const settings = useSettings(data, choice);
  const counts = useCounts(view, {
    descriptor: data?.kind === 'vector' && settings.isVisible ? data : null,
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
      onChange={(next: LayerSettings) =>
        // Before the descriptor is known, it is not known what differs from the settings at first.
        onChange(
          data === null ? { ...choice, isVisible: next.isVisible } : choiceOf(choice.layer, data, next),
        )
      }
      {...props}
    />
  );
}

/** Returns what the person chose, or what a layer has at first: the same object while nothing changes, so that it is coloured once. */
function useSettings(descriptor: Descriptor | null, choice: LayerChoice): LayerSettings {
  const { layer, isVisible, opacity, style } = choice;
  return useMemo(
    () => settingsOf(descriptor, { layer, isVisible, opacity, style }),
    [descriptor, layer, isVisible, opacity, style],
  );
}
