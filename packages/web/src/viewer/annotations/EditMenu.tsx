import { isArea } from '@lamina/annotations';
import { ActionIcon, Menu } from '@mantine/core';
import { IconEdit } from '@tabler/icons-react';
import { texts } from './texts.ts';
import type { AnnotationActions } from './use-annotation-actions.ts';
import { type SlideAnnotations, useStoreVersion } from './use-annotations.ts';

interface EditMenuProps {
  readonly slideAnnotations: SlideAnnotations;
  readonly actions: AnnotationActions;
  /** Whether the user may draw; if not, the menu contains only Copy. */
  readonly mayDraw: boolean;
}

/** The menu with the actions for the selected annotations. Phones hide it (`data-shown-on`) until the user shows all tools. */
export function EditMenu({ slideAnnotations: { store }, actions, mayDraw }: EditMenuProps) {
  useStoreVersion(store); // renders this component again after each change of the annotations
  const selected = store.selected();
  const selectedAreas = selected.filter(({ feature }) => isArea(feature.geometry));
  const isNoneSelected = selected.length === 0;
  const areAllLocked = !isNoneSelected && selected.every(({ feature }) => feature.properties.isLocked);
  return (
    // The button and its icon have the sizes of a `ToolButton` in CSS pixels.
    <Menu position="left-end" shadow="md" withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" size={40} aria-label={texts.more} data-shown-on="wide">
          <IconEdit size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label={texts.more}>
        {mayDraw && (
          <>
            <Menu.Item disabled={isNoneSelected} onClick={actions.duplicate}>
              {texts.duplicate}
            </Menu.Item>
            <Menu.Item disabled={selectedAreas.length < 2} onClick={actions.merge}>
              {texts.merge}
            </Menu.Item>
            <Menu.Item disabled={selectedAreas.length < 2} onClick={actions.subtract}>
              {texts.subtract}
            </Menu.Item>
            <Menu.Item disabled={selectedAreas.length === 0} onClick={actions.fillHoles}>
              {texts.fillHoles}
            </Menu.Item>
            <Menu.Item disabled={isNoneSelected} onClick={actions.simplify}>
              {texts.simplify}
            </Menu.Item>
            <Menu.Item
              disabled={!selectedAreas.some(({ feature }) => feature.geometry.type === 'MultiPolygon')}
              onClick={actions.split}
            >
              {texts.split}
            </Menu.Item>
            <Menu.Item disabled={isNoneSelected} onClick={() => actions.setLocked(!areAllLocked)}>
              {areAllLocked ? texts.unlock : texts.lock}
            </Menu.Item>
            <Menu.Divider />
          </>
        )}
        <Menu.Item disabled={isNoneSelected} onClick={actions.copy}>
          {texts.copyGeoJson}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
