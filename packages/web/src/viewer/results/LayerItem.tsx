import type { RasterDescriptor, ResultLayer, VectorDescriptor } from '@lamina/contract';
import { ActionIcon, Slider, Switch, Text } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Counts } from './count-objects.ts';
import { Legend } from './Legend.tsx';
import type { LayerSettings } from './layer-choices.ts';
import type { LayerStyle } from './object-filter.ts';
import classes from './Results.module.css';
import { colourRangeOf } from './raster-style.ts';
import { texts } from './texts.ts';
import type { Areas } from './use-areas.ts';
import { ValueRange } from './ValueRange.tsx';
import { VectorSettings } from './VectorSettings.tsx';

interface LayerItemProps {
  readonly layer: ResultLayer;
  /** Null: it is loading. */
  readonly descriptor: RasterDescriptor | VectorDescriptor | null;
  readonly hasFailed: boolean;
  readonly settings: LayerSettings;
  /** Objects in the field of view or in the chosen area by class; null: not known. */
  readonly counts: Counts | null;
  readonly areas: Areas;
  /** In the list, from 0. */
  readonly place: number;
  readonly count: number;
  readonly onChange: (settings: LayerSettings) => void;
  readonly onMove: (places: number) => void;
  readonly onRemove: () => void;
}

/** One layer in the panel: whether and how it is shown, its legend and its counts. */
export function LayerItem({
  layer,
  descriptor,
  hasFailed,
  settings,
  counts,
  areas,
  place,
  count,
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
        {count > 1 && (
          <div className={classes.moves}>
            <MoveButton label={texts.moveUp(name)} isAtEnd={place === 0} onMove={() => onMove(-1)}>
              <IconChevronUp size={16} aria-hidden />
            </MoveButton>
            <MoveButton label={texts.moveDown(name)} isAtEnd={place === count - 1} onMove={() => onMove(1)}>
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
      <StateText layer={layer} hasFailed={hasFailed} />
      {descriptor !== null && settings.isVisible && (
        <>
          <Text size="sm" component="span">
            {texts.opacity}
          </Text>
          <Slider
            size="sm"
            min={0}
            max={100}
            label={(value) => `${value}%`}
            thumbLabel={texts.opacity}
            value={Math.round(settings.opacity * 100)}
            onChange={(value) => onChange({ ...settings, opacity: value / 100 })}
          />
          {descriptor.kind === 'vector' ? (
            <VectorSettings
              descriptor={descriptor}
              style={settings.style}
              counts={counts}
              areas={areas}
              onChange={setStyle}
            />
          ) : descriptor.categories === null ? (
            <ValueRange
              {...(descriptor.value_range ?? { min: 0, max: 1 })}
              isColoured
              colours={colourRangeOf(descriptor)}
              style={settings.style}
              onChange={setStyle}
            />
          ) : (
            <Legend
              entries={descriptor.categories
                .filter(({ value }) => value !== 0)
                .map(({ value, name: label, color }) => ({ key: value, label, color, count: null }))}
              hidden={settings.style.hidden}
              onHide={(hidden) => setStyle({ hidden })}
              note={null}
            />
          )}
        </>
      )}
    </li>
  );
}

interface MoveButtonProps {
  readonly label: string;
  /** At the end of the list it does nothing, but keeps the focus. */
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
      {...(isAtEnd && { 'data-disabled': true })}
      onClick={() => {
        if (!isAtEnd) onMove();
      }}
    >
      {children}
    </ActionIcon>
  );
}

function StateText({ layer, hasFailed }: { readonly layer: ResultLayer; readonly hasFailed: boolean }) {
  const { state, progress, problem, owner_name, source } = layer;
  if (hasFailed) return <Text size="sm">{texts.loadFailed}</Text>;
  if (state === 'failed') return <Text size="sm">{problem?.message}</Text>;
  if (state === 'importing') return <Text size="sm">{texts.importing(progress)}</Text>;
  if (state !== 'ready') return <Text size="sm">{texts[state]}</Text>;
  const origin = owner_name ?? (source === 'folder' ? texts.byAnonymous : null);
  if (origin === null) return null;
  return (
    <Text size="xs" c="dimmed">
      {origin}
    </Text>
  );
}
