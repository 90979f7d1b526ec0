import type { AnnotationFeature } from '@lamina/annotations';
import { classNameOf } from './annotation.ts';
import { texts } from './texts.ts';

/** Returns the name, if there is one, and the class of an annotation. */
export function descriptionOf(feature: AnnotationFeature): string {
  const { name } = feature.properties;
  const className = classNameOf(feature) ?? texts.noClass;
  return name ? `${name} · ${className}` : className;
}
