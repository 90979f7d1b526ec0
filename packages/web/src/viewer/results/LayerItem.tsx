/** One entry of the panel of result layers: objects, masks and heatmaps that programs have computed. */
import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { ActionIcon, Slider, Switch, Text } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Counts } from './count-objects.ts';
import { Legend } from './Legend.tsx';
import type { LayerSettings } from './layer-choices.ts';
import type { LayerStyle } from './layer-style.ts';
import classes from './Results.module.css';
import { colourRangeOf } from './raster-style.ts';
import { texts } from './texts.ts';
import type { Areas } from './use-areas.ts';
import { ValueRange } from './ValueRange.tsx';
import { VectorSettings } from './VectorSettings.tsx';

interface LayerItemProps {
  readonly layer: ResultLayer;
  /** Description of the layer's content; null while it is loading. */
  readonly descriptor: RasterDescriptor | VectorDescriptor | null;
  /** What could not be loaded: the descriptor, or parts of the layer; null if nothing has failed. */
  readonly failure: 'descriptor' | 'parts' | null;
  readonly settings: LayerSettings;
  /** Numbers of objects in the field of view or in the chosen area, by class name; null: not counted. */
  readonly counts: Counts | null;
  /** The annotations inside which the user can count objects. */
  readonly areas: Areas;
  /** Position in the list, from 0. */
  readonly position: number;
  readonly layerCount: number;
  readonly onChange: (settings: LayerSettings) => void;
  /** Moves the layer down by `offset` positions; up if negative. */
  readonly onMove: (offset: number) => void;
  readonly onRemove: () => void;
}

/** A result layer in the panel: its switch, its position, its style, and its legend with counts. */
export function LayerItem({
  layer,
  descriptor,
  failure,
  settings,
  counts,
  areas,
  position,
  layerCount,
  onChange,
  onMove,
  onRemove,
}: LayerItemProps) {
  const { name, state } = layer;
  const setStyle = (style: Partial<LayerStyle>) =>
    onChange({ ...settings, style: { ...settings.style, ...style } });
  return (
    <li className={classes.layer}>
      <div className={classes.layerHead}>
        <Switch
          label={name}
          aria-label={texts.show(name)}
          checked={settings.isVisible && state === 'ready'}
          disabled={state !== 'ready'}
          onChange={({ currentTarget }) => onChange({ ...settings, isVisible: currentTarget.checked })}
        />
        {layerCount > 1 && (
          <div className={classes.moves}>
            <MoveButton label={texts.moveUp(name)} isAtEnd={position === 0} onMove={() => onMove(-1)}>
              <IconChevronUp size={16} aria-hidden />
            </MoveButton>
            <MoveButton
              label={texts.moveDown(name)}
              isAtEnd={position === layerCount - 1}
              onMove={() => onMove(1)}
            >
              <IconChevronDown size={16} aria-hidden />
            </MoveButton>
          </div>
        )}
        {layer.rights.manage && (
          <ActionIcon variant="subtle" color="gray" aria-label={texts.remove(name)} onClick={onRemove}>
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        )}
      </div>
      <StateText layer={layer} failure={failure} />
      {descriptor !== null && settings.isVisible && (
        <>
          <Text size="sm" component="span">
            {texts.opacity}
          </Text>
          <Slider
            size="sm"
            min={0}
            max={100}
            label={texts.percent}
            thumbLabel={texts.opacity}
            value={Math.round(settings.opacity * 100)}
            onChange={(value) => onChange({ ...settings, opacity: value / 100 })}
          />
          <ContentSettings
            descriptor={descriptor}
            style={settings.style}
            counts={counts}
            areas={areas}
            onChange={setStyle}
          />
        </>
      )}
    </li>
  );
}

interface ContentSettingsProps {
  readonly descriptor: RasterDescriptor | VectorDescriptor;
  readonly style: LayerStyle;
  readonly counts: Counts | null;
  readonly areas: Areas;
  readonly onChange: (change: Partial<LayerStyle>) => void;
}

/** The settings for the content of a layer: objects, a mask of categories, or a heatmap of values. */
function ContentSettings({ descriptor, style, counts, areas, onChange }: ContentSettingsProps) {
  if (descriptor.kind === 'vector') {
    return (
      <VectorSettings
        descriptor={descriptor}
        style={style}
        counts={counts}
        areas={areas}
        onChange={onChange}
      />
    );
  }
  if (descriptor.categories !== null) {
    return (
      <Legend
        entries={descriptor.categories
          .filter(({ value }) => value !== 0) // category 0 is the background
          .map(({ value, name, color }) => ({ key: value, label: name, color, count: null }))}
        hidden={style.hidden}
        onHide={(hidden) => onChange({ hidden })}
        note={null}
      />
    );
  }
  return (
    <ValueRange
      {...(descriptor.value_range ?? { min: 0, max: 1 })}
      isColoured
      colourRange={colourRangeOf(descriptor)}
      style={style}
      onChange={onChange}
    />
  );
}

interface MoveButtonProps {
  readonly label: string;
  /** Whether the layer cannot move further. The button then does nothing, but can still have the focus. */
  readonly isAtEnd: boolean;
  readonly onMove: () => void;
  readonly children: ReactNode;
}

function MoveButton({ label, isAtEnd, onMove, children }: MoveButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      aria-disabled={isAtEnd}
      {...(isAtEnd && { 'data-disabled': true })} // Mantine then shows the button as disabled
      onClick={() => {
        if (!isAtEnd) onMove();
      }}
    >
      {children}
    </ActionIcon>
  );
}

/** Shows why a layer or a part of it is not shown, or where a layer that is ready comes from. */
function StateText({ layer, failure }: Pick<LayerItemProps, 'layer' | 'failure'>) {
  const { state, progress, problem, owner_name, source } = layer;
  if (failure === 'descriptor') return <Text size="sm">{texts.loadFailed}</Text>;
  if (failure === 'parts') return <Text size="sm">{texts.partsFailed}</Text>;
  if (state === 'failed') return <Text size="sm">{problem?.message}</Text>;
  if (state === 'importing') return <Text size="sm">{texts.importing(progress)}</Text>;
  if (state !== 'ready') return <Text size="sm">{texts[state]}</Text>; // uploading or queued
  // The source 'folder' means that a scan found the file next to the file of the slide, in a folder or in the bucket.
  const origin = owner_name ?? (source === 'folder' ? texts.fromFileBesideSlide : null);
  if (origin === null) return null;
  return (
    <Text size="xs" c="dimmed">
      {origin}
    </Text>
  );
}
