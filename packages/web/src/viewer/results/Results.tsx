/** The result layers of a slide (objects, masks and heatmaps that programs have computed) and their panel. */
import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { Button, CloseButton, Portal, Switch, Text, VisuallyHidden } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useCallback, useMemo, useState } from 'react';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { removeResultLayer, useOverlayDescriptor } from '../../api/results.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { chosenLanguageOr } from '../../language/language.ts';
import type { AnnotationStore } from '../annotations/annotation-store.ts';
import type { HorizontalSpan } from '../overlay/canvas-overlays.ts';
import type { SlideView } from '../slide-view.ts';
import { AddResultDialog } from './AddResultDialog.tsx';
import { LayerCanvas } from './LayerCanvas.tsx';
import { LayerItem } from './LayerItem.tsx';
import {
  choiceOf,
  type LayerChoice,
  type LayerSettings,
  layerKeyOf,
  moveLayer,
  orderLayers,
  settingsOf,
} from './layer-choices.ts';
import classes from './Results.module.css';
import { SwipeDivider } from './SwipeDivider.tsx';
import { texts } from './texts.ts';
import { type Areas, useAreas } from './use-areas.ts';
import { useArrangement } from './use-arrangement.ts';
import { useCounts } from './use-counts.ts';
import { useReadout } from './use-readout.ts';

export interface ResultsProps {
  readonly view: SlideView;
  readonly imageId: string;
  readonly layers: readonly ResultLayer[];
  /** Whether the user may add results. */
  readonly mayAdd: boolean;
  /** Null while the annotations of the slide are not open. */
  readonly annotations: AnnotationStore | null;
  /** Whether the drawing tools are shown; they are larger than the other tools, so the panel is placed differently. */
  readonly isDrawing: boolean;
  /** Whether the panel is open. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

type Descriptor = RasterDescriptor | VectorDescriptor;

/** The visible result layers of a slide, and the panel in which a user adds, shows, orders, styles and compares them. */
export function Results({
  view,
  imageId,
  layers,
  mayAdd,
  annotations,
  isDrawing,
  isOpen,
  onClose,
}: ResultsProps) {
  /** Order, visibility and style of the layers, which the page's URL stores. `arrange` replaces the arrangement. */
  const [arrangement, arrange] = useArrangement(imageId, layers);
  /** The layer that the user wants to delete, until the user has confirmed or cancelled; null if there is none. */
  const [layerToRemove, setLayerToRemove] = useState<ResultLayer | null>(null);
  const [isAdding, setAdding] = useState(false);
  /** Ids of visible layers of which a part could not be loaded. */
  const [incompleteIds, setIncompleteIds] = useState<ReadonlySet<string>>(new Set());
  /** Text that screen readers read out after a layer was moved. */
  const [announcement, setAnnouncement] = useState('');
  /** The annotations inside which the panel can count objects. */
  const areas = useAreas(isOpen ? annotations : null);
  const orderedLayers = orderLayers(layers, arrangement);
  const choices = new Map(arrangement.layers.map((choice) => [choice.layerKey, choice]));
  const choiceFor = ({ id }: ResultLayer): LayerChoice => {
    const layerKey = layerKeyOf(id);
    return choices.get(layerKey) ?? { layerKey, ...hiddenChoice };
  };
  const visibleLayers = orderedLayers.filter(
    (layer) => layer.state === 'ready' && choiceFor(layer).isVisible,
  );
  // The uppermost visible layer and the next one. When the user compares two layers, they are shown on the left and on
  // the right of the divider.
  const [left, right] = visibleLayers;
  /** Position of the divider, 0 (left) to 1 (right); null unless two layers are compared. */
  const dividerPosition = left === undefined || right === undefined ? null : arrangement.dividerPosition;
  // The second argument says whether to load the descriptor. The API calls a result layer an overlay.
  const leftDescriptor = useOverlayDescriptor(left?.id ?? '', left !== undefined).data ?? null;
  const rightDescriptor = useOverlayDescriptor(right?.id ?? '', dividerPosition !== null).data ?? null;
  /** Returns the descriptor of the layer that is shown at a horizontal position of the view, 0 (left) to 1 (right). */
  const descriptorAt = useCallback(
    (viewX: number) =>
      dividerPosition !== null && viewX > dividerPosition ? rightDescriptor : leftDescriptor,
    [dividerPosition, rightDescriptor, leftDescriptor],
  );
  /** Text about the value or object under the pointer; null when there is no text. */
  const readout = useReadout(view, isOpen && left !== undefined ? descriptorAt : null);

  const changeChoice = (newChoice: LayerChoice) =>
    arrange({
      ...arrangement,
      layers: arrangement.layers.map((choice) =>
        choice.layerKey === newChoice.layerKey ? newChoice : choice,
      ),
    });
  const move = (layer: ResultLayer, offset: number) => {
    const layerKey = layerKeyOf(layer.id);
    const newArrangement = moveLayer(arrangement, layerKey, offset);
    arrange(newArrangement);
    const position = newArrangement.layers.findIndex((choice) => choice.layerKey === layerKey);
    setAnnouncement(texts.movedTo(layer.name, position + 1));
  };
  const setDividerPosition = (position: number | null) =>
    arrange({ ...arrangement, dividerPosition: position });

  /** Returns the part of a compared layer that is shown; undefined for a layer that is shown whole. */
  const spanOf = (layer: ResultLayer): HorizontalSpan | undefined => {
    if (dividerPosition === null) return undefined;
    if (layer === left) return { from: 0, to: dividerPosition };
    return layer === right ? { from: dividerPosition, to: 1 } : undefined;
  };

  const setIncomplete = (id: string, isIncomplete: boolean) =>
    setIncompleteIds((ids) => {
      const newIds = new Set(ids);
      if (isIncomplete) newIds.add(id);
      else newIds.delete(id);
      return newIds;
    });

  async function remove(layer: ResultLayer) {
    try {
      await removeResultLayer(layer);
      toast.success(texts.removed(layer.name));
    } catch (error) {
      toast.error(messageOf(error, texts.removeFailed));
    }
    setLayerToRemove(null);
  }

  return (
    <>
      <div className={classes.canvases} aria-hidden="true">
        {/* Later elements cover earlier ones, so the uppermost layer comes last. */}
        {visibleLayers.toReversed().map((layer) => (
          <VisibleLayer
            key={layer.id}
            view={view}
            id={layer.id}
            choice={choiceFor(layer)}
            span={spanOf(layer)}
            onFailuresChange={(hasFailures) => setIncomplete(layer.id, hasFailures)}
          />
        ))}
      </div>
      {dividerPosition !== null && left !== undefined && right !== undefined && (
        <SwipeDivider
          position={dividerPosition}
          leftName={left.name}
          rightName={right.name}
          onMove={setDividerPosition}
        />
      )}
      {isOpen && (
        <section
          className={classes.panel}
          data-drawing={isDrawing || undefined} // read by the style sheet
          aria-label={texts.results}
          lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
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
              description={dividerPosition === null ? null : texts.compared(left.name, right.name)}
              checked={dividerPosition !== null}
              onChange={({ currentTarget }) => setDividerPosition(currentTarget.checked ? 0.5 : null)} // the middle
            />
          )}
          <ul className={classes.layers}>
            {orderedLayers.map((layer, position) => (
              <ListedLayer
                key={layer.id}
                view={view}
                areas={areas}
                layer={layer}
                isIncomplete={incompleteIds.has(layer.id)}
                choice={choiceFor(layer)}
                position={position}
                layerCount={orderedLayers.length}
                onChange={changeChoice}
                onMove={(offset) => move(layer, offset)}
                onRemove={() => setLayerToRemove(layer)}
              />
            ))}
          </ul>
          <VisuallyHidden aria-live="polite">{announcement}</VisuallyHidden>
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
      {/* The dialogs cover the whole page. Outside of `main`, their `header` would be a second banner landmark. */}
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
        {layerToRemove !== null && (
          <ConfirmDialog
            title={texts.removeTitle}
            languageBeforeChoice="en" // English buttons until the user chooses a language
            confirmLabel={texts.removeConfirm}
            isDestructive
            onConfirm={() => remove(layerToRemove)}
            onClose={() => setLayerToRemove(null)}
          >
            {texts.removeHint(layerToRemove.name)}
          </ConfirmDialog>
        )}
      </Portal>
    </>
  );
}

/** The choice for a layer that the arrangement does not contain. */
const hiddenChoice = { isVisible: false, style: {} } as const;

interface VisibleLayerProps {
  readonly view: SlideView;
  readonly id: string;
  readonly choice: LayerChoice;
  /** The part that is shown; undefined: the whole layer. */
  readonly span: HorizontalSpan | undefined;
  readonly onFailuresChange: (hasFailures: boolean) => void;
}

/** A layer over the slide; renders nothing until its descriptor is loaded. */
function VisibleLayer({ view, id, choice, ...props }: VisibleLayerProps) {
  const isReady = true; // only layers that are ready are visible
  const { data: descriptor } = useOverlayDescriptor(id, isReady);
  const { opacity, style } = useSettings(descriptor ?? null, choice);
  if (descriptor === undefined) return null;
  return <LayerCanvas view={view} descriptor={descriptor} style={style} opacity={opacity} {...props} />;
}

interface ListedLayerProps {
  readonly view: SlideView;
  readonly layer: ResultLayer;
  /** Whether a visible part of the layer could not be loaded. */
  readonly isIncomplete: boolean;
  readonly areas: Areas;
  readonly choice: LayerChoice;
  /** Position in the list, from 0. */
  readonly position: number;
  readonly layerCount: number;
  readonly onChange: (choice: LayerChoice) => void;
  readonly onMove: (offset: number) => void;
  readonly onRemove: () => void;
}

/** A layer in the panel; loads its descriptor and counts its objects. */
function ListedLayer({ view, layer, isIncomplete, areas, choice, onChange, ...props }: ListedLayerProps) {
  const isReady = layer.state === 'ready';
  const descriptorQuery = useOverlayDescriptor(layer.id, isReady);
  const descriptor = isReady ? (descriptorQuery.data ?? null) : null;
  const settings = useSettings(descriptor, choice);
  const counts = useCounts(view, {
    descriptor: descriptor?.kind === 'vector' && settings.isVisible ? descriptor : null,
    area: areas.chosen?.geometry ?? null,
    ...settings.style,
  });
  const partsFailure = isIncomplete ? 'parts' : null;
  return (
    <LayerItem
      layer={layer}
      descriptor={descriptor}
      // Unlike `isError`, this stays while the request is repeated.
      failure={descriptor === null && descriptorQuery.errorUpdateCount > 0 ? 'descriptor' : partsFailure}
      settings={settings}
      counts={counts}
      areas={areas}
      onChange={(newSettings: LayerSettings) =>
        // Without the descriptor the defaults of the layer are unknown, so only the visibility can change.
        onChange(
          descriptor === null
            ? { ...choice, isVisible: newSettings.isVisible }
            : choiceOf(choice.layerKey, descriptor, newSettings),
        )
      }
      {...props}
    />
  );
}

/**
 * Returns the settings of a layer: the user's choice, and the layer's defaults where the user has chosen nothing. The
 * object stays the same until the settings change, because a new object makes the layer compute its colours again.
 */
function useSettings(descriptor: Descriptor | null, choice: LayerChoice): LayerSettings {
  const { layerKey, isVisible, opacity, style } = choice;
  return useMemo(
    () => settingsOf(descriptor, { layerKey, isVisible, opacity, style }),
    [descriptor, layerKey, isVisible, opacity, style],
  );
}
